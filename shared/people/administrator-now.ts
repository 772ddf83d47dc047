import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { active, type Admitted } from './active.ts';
import { hasWayIn } from './other-ways-in.ts';

/** How many people are read in one batch. */
const SLICE = 100;

/**
 * Returns an administrator who can sign in: enabled, with a password, a passkey or an account at a configured source. Returns undefined if there is
 * none, so that a link may create the first.  `except`: the id of a person who does not count.
 */
export async function administratorNow(
  { people, passkeys }: Pick<Stores, 'people' | 'passkeys'>,
  admitted: Admitted,
  except?: string,
): Promise<PersonRecord | undefined> {
  let page: readonly PersonRecord[];
  let after = '';
  do {
    page = await people.page({ list: { state: 'admin' }, after, limit: SLICE });
    for (const person of page) {
      if (person.id === except) continue;
      const canSignIn = hasWayIn(person, admitted) || (await passkeys.of(person.id)).length > 0;
      if (canSignIn && active(person, admitted)) return person;
    }
    after = page.at(-1)?.name ?? '';
  } while (page.length === SLICE);
  return undefined;
}
