import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { findSignIn, noteSeen } from '#shared/people/access/sign-ins.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { randomId } from '#shared/base/random.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { isEnoughNow } from '../../base/enough-now.ts';
import { artefactAdapter, artefactOf } from '../storage/artefacts.ts';
import { FORMER, formerSessions } from './former-sessions.ts';
import type { StoredSession } from './former-sessions.ts';
import { endSignedOut, recordSubmitted, submittedSignIn } from '../storage/sign-in-events.ts';
import type { AdapterStore } from '../storage/store.ts';
import { boundedForStrangers } from '../storage/strangers.ts';

/** The members that a session has only while a person is signed in. */
const SIGNED_IN = ['accountId', 'loginTs', 'acr', 'amr', 'authorizations'] as const;

/** The precision in milliseconds of the stored time of a browser's last visit. */
const SEEN_PRECISION = 600_000;

/**
 * Stores sessions of browsers. The engine reads a session, changes it and writes it back, so a late write could restore
 * a session that was ended. Therefore a session is signed in only as long as its `SignIn` is stored.
 */
export function sessionAdapter(store: AdapterStore): Adapter {
  const sessions = artefactAdapter(store, 'Session');
  // Visits without a session: if a cookie names a session that does not exist, the engine makes one for the browser.
  const visits = boundedForStrangers(store, artefactAdapter(store, 'Visit'), () => true);
  const former = formerSessions(store);
  const { artefacts } = store.stores;
  /** The identifier of the session that each request of the engine received. */
  const given = new WeakMap<object, string>();

  /** Stores the time of a browser's last visit, but not for each request, since that would be a write. */
  const lately = new RecentMap<number>(10_000);
  async function seen(uid: string): Promise<void> {
    const now = store.clock.now();
    if (Math.abs(now - (lately.get(uid) ?? 0)) < SEEN_PRECISION) return;
    lately.set(uid, now);
    await noteSeen(store, uid, store.config.people.session);
  }

  function give(session: AdapterPayload | undefined): AdapterPayload | undefined {
    const { ctx } = Provider;
    if (ctx !== undefined && session?.jti !== undefined) given.set(ctx, session.jti);
    return session;
  }

  async function live(session: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    const { uid, accountId } = session ?? {};
    if (session === undefined || accountId === undefined) return session;
    const signIn = uid === undefined ? undefined : await findSignIn(store, uid);
    const known = signIn?.accountId === accountId && (await store.directory.find(accountId));
    if (known && uid !== undefined && isEnoughNow(store, known, signIn.assurance.acr)) {
      await seen(uid);
      return session;
    }
    for (const member of SIGNED_IN) delete session[member];
    // The next sign-in gets a new identifier, so late writes of the ended session have no effect.
    session.uid = randomId(store.random);
    return session;
  }

  /**
   * Writes the session of a signed-in person. Resolves to its present identifier, or to undefined if the session has
   * ended meanwhile or a password gave it another identifier.
   */
  async function write(
    id: string,
    payload: AdapterPayload,
    seconds: number,
  ): Promise<string | undefined> {
    const before = formerId();
    const was: StoredSession | undefined = await artefacts.get('Session', before ?? id);
    if (was?.next !== undefined) return join(was, payload);
    if (before === undefined) {
      const artefact = artefactOf('Session', id, payload, seconds);
      const { ctx } = Provider;
      // A late write must not restore an identifier from before the password, since another person may know it.
      if (was === undefined && ctx !== undefined && given.get(ctx) === id) return undefined;
      if (was === undefined) await artefacts.put(artefact);
      else if (!(await artefacts.replace(artefact, was))) return write(id, payload, seconds);
      return id;
    }
    const next = former.nextId(before);
    if (was === undefined) {
      await sessions.destroy(next);
      return undefined;
    }
    // The session is written before the pointer to it, so that one of the two identifiers always leads to it.
    await sessions.upsert(next, payload, seconds);
    const pointer = { kind: 'Session', id: before, payload: { next }, seconds: FORMER };
    return (await artefacts.replace(pointer, was)) ? next : write(id, payload, seconds);
  }

  /** Another request has changed the session meanwhile: adds the permissions of this request to it. */
  async function join(
    pointer: StoredSession,
    payload: AdapterPayload,
  ): Promise<string | undefined> {
    const current = await former.follow(pointer);
    const { jti: id, uid, exp = 0 } = current ?? {};
    if (current === undefined || id === undefined || uid !== payload.uid) return undefined;
    const authorizations = { ...current.authorizations, ...payload.authorizations };
    const seconds = exp - epochSeconds(store.clock);
    const artefact = artefactOf('Session', id, { ...current, authorizations }, seconds);
    return (await artefacts.replace(artefact, current)) ? id : join(pointer, payload);
  }

  return {
    ...sessions,
    async find(id) {
      const stored: StoredSession | undefined = await artefacts.get('Session', id);
      if (stored?.next === undefined) {
        return give(await live(stored ?? (await visits.find(id)) ?? undefined));
      }
      const session = await live(await former.follow(stored));
      // This check is needed only here, since only the engine signs people in with a resumed session. Pages only read
      // the session's person.
      const known = session && (Provider.ctx === undefined || (await former.isResumedBy(session)));
      return known ? give(session) : undefined;
    },
    findByUid: async (uid) => live((await sessions.findByUid(uid)) ?? undefined),

    /** A sign-in is written when the engine takes it from the page, before the session that needs it. */
    async upsert(id, payload, expiresIn) {
      const { uid, accountId } = payload;
      const submitted = submittedSignIn();
      if (submitted && uid !== undefined && accountId !== undefined) {
        await recordSubmitted(store, { ...submitted, uid, accountId });
      }
      if (accountId !== undefined || (await sessions.find(id)) !== undefined) {
        const written = await write(id, payload, expiresIn ?? 0);
        if (written !== id) former.answerWith(written);
      } else if (await former.isLate()) {
        former.answerWith(undefined);
      } else {
        await visits.upsert(id, payload, expiresIn);
      }
    },

    /**
     * The engine also calls this method if a session only gets another identifier. `write` decides about the former
     * identifier.
     */
    async destroy(id) {
      if (id === formerId()) return;
      const { route, params } = Provider.ctx?.oidc ?? {};
      if (route === 'end_session_confirm' && params?.['logout']) {
        const session = (await sessions.find(id)) ?? undefined;
        const signIn =
          session?.uid === undefined ? undefined : await findSignIn(store, session.uid);
        if (signIn) await endSignedOut(store, signIn);
      }
      await sessions.destroy(id);
      await visits.destroy(id);
    },
  };
}

/**
 * Returns the identifier that the engine has just replaced because the person continues to a client. Returns undefined
 * after a password and after signing out, since the engine then forgets the identifier.
 */
function formerId(): string | undefined {
  const { route, session } = Provider.ctx?.oidc ?? {};
  if (route !== 'resume' || session?.accountId === undefined || submittedSignIn()) return undefined;
  return (session as { readonly oldId?: string }).oldId;
}
