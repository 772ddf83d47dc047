import { createHmac } from 'node:crypto';
import { Provider } from 'oidc-provider';
import type { AdapterPayload } from 'oidc-provider';
import { derivedKey } from '#shared/base/derived-key.ts';
import { cookies as engineCookies } from './cookies.ts';
import type { AdapterStore } from '../storage/store.ts';

/**
 * Seconds for which a former identifier still leads to the session. A concurrent request of another tab has the former
 * identifier, and so does a browser that lost an answer.
 */
export const FORMER = 30;

/** The most identifiers that a session may get within that time if the first of them must still lead to the session. */
const MOST_STEPS = 10;

/** The row of an identifier: a session, or for a former identifier the next identifier. */
export type StoredSession = AdapterPayload & { readonly next?: string };

/** The part of an interaction's result that says which session may resume it. */
export interface Resumable {
  /** `uid` of the session; absent after a password, since that gives the session a new identifier. */
  readonly sessionUid?: string;
}

/** Follows the successive identifiers of a session, and finds which of them the browser has. */
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
    /**
     * The next identifier is computed from the former one, so two tabs that return at the same time get the same
     * identifier.
     */
    nextId: (id: string) => createHmac('sha256', key).update(id).digest('base64url'),

    /** The session to which a stored row leads; undefined if the session has ended. */
    async follow(stored: StoredSession | undefined): Promise<StoredSession | undefined> {
      let session = stored;
      for (let steps = 0; session?.next !== undefined && steps < MOST_STEPS; steps++) {
        session = await artefacts.get('Session', session.next);
      }
      return session?.next === undefined ? session : undefined;
    },

    /**
     * Whether the engine's request resumes an interaction of that session, or repeats such a request whose answer was
     * lost.
     */
    async isResumedBy({ uid }: StoredSession): Promise<boolean> {
      const { route, named } = request();
      if (route !== 'resume') return false;
      const interaction = await artefacts.get('Interaction', named('resume') ?? '');
      const { sessionUid } = (interaction?.['result'] ?? {}) as Resumable;
      return sessionUid !== undefined && sessionUid === uid;
    },

    /** Whether the engine's request has a former identifier. */
    async isLate(): Promise<boolean> {
      const stored = await artefacts.get('Session', request().named('session') ?? '');
      return stored?.['next'] !== undefined;
    },

    /** Makes the engine's answer set the cookie of that session; with undefined the answer sets no cookie. */
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
