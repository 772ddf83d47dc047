import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { endEverything, type Ended } from './access/everything.ts';
import { changePerson, PeopleError, replacePerson, secretsOf, type PeopleStore } from './people.ts';
import { said } from '#shared/refusals/operations.ts';

/** Thrown if somebody else changed the password in the meantime. */
export class PasswordReplaced extends PeopleError {
  override readonly name = 'PasswordReplaced';

  constructor() {
    super(said('password-replaced'));
  }
}

/**
 * Replaces a person's password by one of their own choice, with its verifiers, in one step. `seen` is the record that the
 * caller checked them against: of several changes that saw the same password one happens, the others throw
 * `PasswordReplaced`. `more` is recorded with it. Throws `PasswordError` if the password may not be set.
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
 * Takes the password from a person who comes in with a passkey from now on, and ends all that is open. Throws `PeopleError`
 * if `seen` is no longer there.
 */
export async function removePasswordAndEnd(store: PeopleStore, seen: PersonRecord): Promise<void> {
  const edit = ({ password_hash: _gone, ...now }: PersonRecord) => {
    if (now.id !== seen.id) throw new PasswordReplaced();
    return { ...now, verifiers: [] };
  };
  await changePerson(store, seen.name, edit, { kind: 'password.removed' });
}

/**
 * Replaces the password as `changePassword` does, and ends all that is open: first the record, then the generation, so that who was let in by the former password
 * has an earlier generation.
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
