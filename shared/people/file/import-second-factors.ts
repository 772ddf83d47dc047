import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { type AccessStore, changing } from '../access/access-store.ts';
import type { Put } from './writing.ts';
import type { SecondFactorRecord } from '#shared/stores/credentials/second-factors.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { PeopleError } from '../people.ts';
import type { DirectoryContent } from './directory-content.ts';
import type { PersonHere } from './people-here.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

interface SecondFactorStore extends Pick<AccessStore, 'clock' | 'longestLife' | 'recorder'> {
  readonly stores: Pick<Stores, 'secondFactors' | 'revocations'>;
}

/** Throws `PeopleError` for a person who has another id here: the secret is sealed for the id in the file. */
export async function refuseForeignSecondFactors(
  { people, second_factors }: DirectoryContent,
  personHere: PersonHere,
): Promise<void> {
  for (const { accountId } of second_factors) {
    const here = await personHere(accountId);
    if (here === undefined || here === accountId) continue;
    const name = people.find(({ id }) => id === accountId)?.name ?? accountId;
    throw new PeopleError(saidOfFile('second-factor-of-other-id', { name }));
  }
}

/**
 * Writes a second factor. The same set-up stays as it is: steps and recovery codes that were used since the export
 * stay used up (RFC 6238 section 5.2).
 */
export async function putSecondFactor(
  store: SecondFactorStore,
  factor: SecondFactorRecord,
  personHere: PersonHere,
  ...events: readonly AuditEvent[]
): Promise<Put> {
  const { stores, clock, longestLife } = store;
  const secondFactors = changing(store, 'secondFactors', ...events);
  const { accountId, id } = factor;
  if ((await personHere(accountId)) !== accountId) {
    throw new PeopleError(saidOfFile('person-removed-meanwhile', { what: 'a second factor' }));
  }
  const there = await secondFactors.get(accountId);
  if (there?.id === id) return 'same';
  const keep = async (): Promise<boolean> => {
    if (there === undefined) return secondFactors.add(factor);
    // The replacement is one step, so that the person is never without a second factor.
    const generation = await stores.revocations.generation('person', accountId);
    const until = rememberUntil(clock.now(), longestLife);
    const setUp = { factor, replaces: there.id, generation, until };
    return (await secondFactors.setUp(setUp)) !== undefined;
  };
  if (!(await keep())) {
    throw new PeopleError(saidOfFile('second-factor-meanwhile', { id: accountId }));
  }
  return there === undefined ? 'added' : 'replaced';
}
