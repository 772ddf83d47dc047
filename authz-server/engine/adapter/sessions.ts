import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { endSignIn, findSignIn, recordSignIn } from '#shared/people/access/sign-ins.ts';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import { randomId } from '#shared/base/random.ts';
import { artefactAdapter } from './artefacts.ts';
import type { AdapterStore } from './store.ts';
import { boundedForStrangers } from './strangers.ts';

/** What a session has only while somebody is signed in. */
const SIGNED_IN = ['accountId', 'loginTs', 'acr', 'amr', 'authorizations'] as const;

/**
 * Seconds for which the pages know a session by the identifier that it had before: a request that is
 * under way while another tab goes on still comes with it.
 */
const FORMER = 30;

/** What the sign-in page adds to the result of a login (`signIn`). */
type SubmittedSignIn = Omit<SignIn, 'uid' | 'accountId'>;

/**
 * Sessions of browsers. The engine reads the whole, changes it and writes it back, so nothing in it can
 * be ended for good; a session counts as signed in only while its `SignIn` is there.
 */
export function sessionAdapter(store: AdapterStore): Adapter {
  const sessions = artefactAdapter(store, 'Session');
  // Of nobody: the engine makes one for whoever has a cookie whose session is gone.
  const visits = boundedForStrangers(store, artefactAdapter(store, 'Visit'), () => true);
  const stored = async (id: string) => (await sessions.find(id)) ?? (await visits.find(id));

  async function live(session: AdapterPayload | undefined): Promise<AdapterPayload | undefined> {
    const { uid, accountId } = session ?? {};
    if (session === undefined || accountId === undefined) return session;
    const signIn = uid === undefined ? undefined : await findSignIn(store, uid);
    const known = signIn?.accountId === accountId && (await store.directory.find(accountId));
    if (known) return session;
    for (const member of SIGNED_IN) delete session[member];
    // Who signs in next signs in anew: copies of what has ended, written late, stay ended.
    session.uid = randomId(store.random);
    return session;
  }

  return {
    ...sessions,
    async find(id) {
      const session = (await stored(id)) ?? undefined;
      // The engine writes back what it reads; the pages only look who it is.
      return session?.['former'] && Provider.ctx ? undefined : live(session);
    },
    findByUid: async (uid) => live((await sessions.findByUid(uid)) ?? undefined),

    /** A sign-in is written when the engine takes it over from the page, before the session that needs it. */
    async upsert(id, payload, expiresIn) {
      const { uid, accountId } = payload;
      const submitted = submittedSignIn();
      if (submitted && uid !== undefined && accountId !== undefined) {
        const signIn = { ...submitted, uid, accountId };
        await recordSignIn(store, signIn, store.config.people.session);
      }
      const known = accountId !== undefined || (await sessions.find(id)) !== undefined;
      return (known ? sessions : visits).upsert(id, payload, expiresIn);
    },

    /**
     * Also called when a session only gets another identifier: at a logout if the person stays, and when
     * they go on to a client. Only then, and not after a password, is the former one known for a while.
     */
    async destroy(id) {
      const { route, params } = Provider.ctx?.oidc ?? {};
      const session = (await sessions.find(id)) ?? undefined;
      const signIn = session?.uid === undefined ? undefined : await findSignIn(store, session.uid);
      const signedIn = signIn !== undefined && signIn.accountId === session?.accountId;
      if (signIn && route === 'end_session_confirm' && params?.['logout']) {
        await endSignIn(store, signIn);
      } else if (signedIn && route === 'resume' && submittedSignIn() === undefined) {
        return sessions.upsert(id, { ...session, former: true }, FORMER);
      }
      await sessions.destroy(id);
      await visits.destroy(id);
    },
  };
}

/** Of the interaction that is being resumed, if the person has just signed in for it. */
function submittedSignIn(): SubmittedSignIn | undefined {
  return Provider.ctx?.oidc.result?.['signIn'] as SubmittedSignIn | undefined;
}
