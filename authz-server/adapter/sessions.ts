import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { endSignIn, findSignIn, recordSignIn } from '#shared/access/sign-ins.ts';
import type { SignIn } from '#shared/access/sign-ins.ts';
import { randomId } from '#shared/random.ts';
import { artefactAdapter } from './artefacts.ts';
import type { AdapterStore } from './store.ts';

/** What a session has only while somebody is signed in. */
const SIGNED_IN = ['accountId', 'loginTs', 'acr', 'amr', 'authorizations'] as const;

/** What the sign-in page adds to the result of a login (`signIn`). */
type SubmittedSignIn = Omit<SignIn, 'uid' | 'accountId'>;

/**
 * Sessions of browsers. The engine reads the whole, changes it and writes it back, so nothing in it can
 * be ended for good; a session counts as signed in only while its `SignIn` is there.
 */
export function sessionAdapter(store: AdapterStore): Adapter {
  const artefacts = artefactAdapter(store, 'Session');

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
    ...artefacts,
    find: async (id) => live((await artefacts.find(id)) ?? undefined),
    findByUid: async (uid) => live((await artefacts.findByUid(uid)) ?? undefined),

    /** A sign-in is written when the engine takes it over from the page, before the session that needs it. */
    async upsert(id, payload, expiresIn) {
      const { uid, accountId } = payload;
      const submitted = submittedSignIn();
      if (submitted && uid !== undefined && accountId !== undefined) {
        const signIn = { ...submitted, uid, accountId };
        await recordSignIn(store, signIn, store.config.people.session);
      }
      return artefacts.upsert(id, payload, expiresIn);
    },

    /** Also called when a session only gets another identifier, at a logout too if the person stays. */
    async destroy(id) {
      const { route, params } = Provider.ctx?.oidc ?? {};
      if (route === 'end_session_confirm' && params?.['logout']) {
        const { uid } = (await artefacts.find(id)) ?? {};
        const signIn = uid === undefined ? undefined : await findSignIn(store, uid);
        if (signIn) await endSignIn(store, signIn);
      }
      await artefacts.destroy(id);
    },
  };
}

/** Of the interaction that is being resumed, if the person has just signed in for it. */
function submittedSignIn(): SubmittedSignIn | undefined {
  return Provider.ctx?.oidc.result?.['signIn'] as SubmittedSignIn | undefined;
}
