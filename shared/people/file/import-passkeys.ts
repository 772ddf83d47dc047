import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import type { Recorder } from '#shared/audit/recorder.ts';
import { changing } from '../access/access-store.ts';
import type { Put } from './writing.ts';
import { MOST_PASSKEYS, type PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { PeopleError } from '../people.ts';
import type { DirectoryContent } from './directory-content.ts';
import type { PersonHere } from './people-here.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

interface PasskeyStore {
  readonly recorder?: Recorder;
  readonly stores: Pick<Stores, 'passkeys'>;
}

/** Throws `PeopleError` for a passkey that belongs to another person here. */
export async function refuseKnownPasskeys(
  { stores }: PasskeyStore,
  { passkeys }: DirectoryContent,
  personHere: PersonHere,
): Promise<void> {
  for (const { id, accountId } of passkeys) {
    const there = await stores.passkeys.get(id);
    if (there === undefined || there.accountId === (await personHere(accountId))) continue;
    throw new PeopleError(saidOfFile('known-elsewhere', { what: `the passkey ${id}` }));
  }
}

/**
 * Writes a passkey. An equal key stays as it is, unless the counter in the file is higher: a counter that went back
 * would admit a copy of the passkey (WebAuthn section 6.1.1).
 */
export async function putPasskey(
  store: PasskeyStore,
  passkey: PasskeyRecord,
  personHere: PersonHere,
  ...events: readonly AuditEvent[]
): Promise<Put> {
  const passkeys = changing(store, 'passkeys', ...events);
  const { id, publicKey, rpId, counter } = passkey;
  const accountId = await personHere(passkey.accountId);
  if (accountId === undefined)
    throw new PeopleError(saidOfFile('person-removed-meanwhile', { what: `the passkey ${id}` }));
  const there = await passkeys.get(id);
  const isSame = there?.publicKey === publicKey && there.rpId === rpId;
  if (isSame && there.counter >= counter) return 'same';
  const removed = await passkeys.remove(accountId, id, 0);
  const outcome = await passkeys.add({ ...passkey, accountId }, MOST_PASSKEYS);
  if (outcome === 'full') {
    throw new PeopleError(
      saidOfFile('too-many-of-owner', { what: `the passkey ${id}`, most: MOST_PASSKEYS }),
    );
  }
  if (outcome === 'taken') {
    throw new PeopleError(saidOfFile('passkey-added-meanwhile', { id }));
  }
  return removed === 'gone' ? 'added' : 'replaced';
}
