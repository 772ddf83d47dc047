import { createHmac } from 'node:crypto';
import { Provider } from 'oidc-provider';
import type { AdapterPayload } from 'oidc-provider';
import { derivedKey } from '#shared/base/derived-key.ts';
import { cookies as engineCookies } from './cookies.ts';
import type { AdapterStore } from '../storage/store.ts';

/**
 * Seconds for which a former identifier of a session leads to the session: a request that is under way while
 * another tab goes on still comes with it, and so does a browser that has lost an answer.
 */
export const FORMER = 30;

/** The most identifiers that a session may get within that time so that its first one still finds it. */
const MOST_STEPS = 10;

/** The row of an identifier: a session, or for a former identifier only the next one. */
export type StoredSession = AdapterPayload & { readonly next?: string };

/** The result of an interaction, as far as it says which session may resume it. */
export interface Resumable {
  /** `uid` of the session; absent where a password was given, which makes another identifier. */
  readonly sessionUid?: string;
}

/** The identifiers of a session, one after another, and which of them the browser has. */
export function formerSessions(store: AdapterStore) {
  const { artefacts } = store.stores;
  const key = derivedKey(store.master, 'countersign authz session successor');
  const { long } = engineCookies(store);
  const request = () => {
    const { oidc } = Provider.ctx ?? {};
    const named = (name: 'session' | 'resume') =>
      oidc?.cookies.get(oidc.provider.cookieName(name), { signed: true });
    return { route: oidc?.route, named };
  };

  return {
    /** Follows from the one before, so that two tabs that come back at once get the same one. */
    nextId: (id: string) => createHmac('sha256', key).update(id).digest('base64url'),

    /** The session to which what is stored leads; undefined: it has ended. */
    async follow(stored: StoredSession | undefined): Promise<StoredSession | undefined> {
      let session = stored;
      for (let steps = 0; session?.next !== undefined && steps < MOST_STEPS; steps++) {
        session = await artefacts.get('Session', session.next);
      }
      return session?.next === undefined ? session : undefined;
    },

    /** Whether the engine's request resumes an interaction of that session, or has done so and its answer was lost. */
    async isResumedBy({ uid }: StoredSession): Promise<boolean> {
      const { route, named } = request();
      if (route !== 'resume') return false;
      const interaction = await artefacts.get('Interaction', named('resume') ?? '');
      const { sessionUid } = (interaction?.['result'] ?? {}) as Resumable;
      return sessionUid !== undefined && sessionUid === uid;
    },

    /** Whether the engine's request came with a former identifier. */
    async isLate(): Promise<boolean> {
      const stored = await artefacts.get('Session', request().named('session') ?? '');
      return stored?.['next'] !== undefined;
    },

    /** The answer of the engine names that session; undefined: it leaves the browser with what it has. */
    answerWith(id: string | undefined): void {
      const ctx = Provider.ctx;
      if (ctx === undefined) return;
      const name = ctx.oidc.provider.cookieName('session');
      if (id !== undefined) {
        ctx.oidc.cookies.set(name, id, { ...long, overwrite: true });
        return;
      }
      const lines = [ctx.res.getHeader('Set-Cookie') ?? []].flat().map(String);
      const others = lines.filter(
        (line) => !line.startsWith(`${name}=`) && !line.startsWith(`${name}.sig=`),
      );
      ctx.res.setHeader('Set-Cookie', others);
    },
  };
}
