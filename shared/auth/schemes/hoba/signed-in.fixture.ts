import { randomId, systemRandom } from '#shared/base/random.ts';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import { type Assurance, BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { recordSignIn } from '#shared/people/access/sign-ins.ts';
import type { Invited } from './invitations.ts';

/** Signs a person in, and returns the sign-in's data for a key link. */
export async function signedIn(
  store: AccessStore,
  person: string,
  assurance: Assurance = BY_PASSWORD,
): Promise<Invited> {
  const uid = randomId(systemRandom);
  const generation = await store.stores.revocations.generation('person', person);
  const signIn = { uid, accountId: person, generation, since: store.clock.now(), assurance };
  await recordSignIn(store, signIn, 3600);
  return { person, acr: assurance.acr, signIn: uid };
}
