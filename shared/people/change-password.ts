import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { endEverything, type Ended } from './access/everything.ts';
import { changePerson, PeopleError, replacePerson, secretsOf, type PeopleStore } from './people.ts';
import { said } from '#shared/refusals/operations.ts';

/** Thrown if the password was changed in the meantime. */
export class PasswordReplaced extends PeopleError {
  override readonly name = 'PasswordReplaced';

  constructor() {
    super(said('password-replaced'));
  }
}

/**
 * Replaces a person's password by a password of their choice, with its verifiers, in one step. `seen` is the record
 * that the caller checked. Of several changes that saw the same password one succeeds; the rest throw
 * `PasswordReplaced`. `more` is recorded with the change. Throws `PasswordError` if the password may not be set.
 */
export async function changePassword(
  store: PeopleStore,
  seen: PersonRecord,
  password: string,
  ...more: readonly AuditEvent[]
): Promise<void> {
  const secrets = await secretsOf(store, seen.name, password);
  const edit = (now: PersonRecord) => {
    if (now.id !== seen.id || now.password_hash !== seen.password_hash) {
      throw new PasswordReplaced();
    }
    return { ...now, ...secrets };
  };
  await replacePerson(store, seen.name, edit, { kind: 'password.changed' }, ...more);
}

/**
 * Removes the password of a person who signs in with a passkey from now on, and ends all their access. Throws
 * `PeopleError` if `seen` was replaced meanwhile.
 */
export async function removePasswordAndEnd(store: PeopleStore, seen: PersonRecord): Promise<void> {
  const edit = ({ password_hash: _gone, ...now }: PersonRecord) => {
    if (now.id !== seen.id) throw new PasswordReplaced();
    return { ...now, verifiers: [] };
  };
  await changePerson(store, seen.name, edit, { kind: 'password.removed' });
}

/**
 * Replaces the password as `changePassword` does, and ends all access of the person. It writes the record before the
 * generation, so that a sign-in by the former password has an earlier generation.
 */
export async function changePasswordAndEnd(
  store: PeopleStore,
  seen: PersonRecord,
  password: string,
  ...more: readonly AuditEvent[]
): Promise<Ended> {
  await changePassword(store, seen, password, ...more);
  return endEverything(store, seen.id);
}
