import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';
import { active, type Admitted } from './active.ts';
import type { Directory } from './directory.ts';
import type { Passwords } from './password.ts';
import { passwordMark } from './password-mark.ts';
import { opaqueString, usernameCaseMapped } from './names/precis.ts';

export interface LocalDirectory {
  readonly people: Pick<People, 'get' | 'getByName'>;
  readonly revocations: Pick<Revocations, 'generation'>;
  readonly passwords: Pick<Passwords, 'verify'>;
  readonly admitted: Admitted;
}

/**
 * An id that no person has, not even an imported one. It is looked up for unknown names, so that the store's work is
 * equal.
 */
const NOBODY = '(nobody)';

/** Creates the built-in directory, which uses the people in the store. */
export function localDirectory({
  people,
  revocations,
  passwords,
  admitted,
}: LocalDirectory): Directory {
  return {
    async find(id) {
      const person = active(await people.get(id), admitted);
      return person && known(person);
    },

    async authenticate(name, password, turn) {
      const enforced = opaqueString(password);
      if (enforced === undefined) return undefined;
      const named = await people.getByName(usernameCaseMapped(name) ?? '');
      const id = named?.id ?? NOBODY;
      // The generation is read before the record against which the password is checked. Code that replaces the record
      // raises the generation afterwards, so an old password gives an old generation.
      const generation = await revocations.generation('person', id);
      const person = active(await people.get(id), admitted);
      const right = await passwords.verify(turn, person?.password_hash, enforced);
      if (!right || person === undefined) return undefined;
      return { ...known(person), generation, passwordMark: passwordMark(person) };
    },
  };
}

const known = ({ id, name, profile, created_at, profile_changed_at }: PersonRecord) => ({
  id,
  name,
  ...(profile && { profile }),
  changedAt: profile_changed_at ?? created_at,
});
