import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import { active, type Admitted } from './active.ts';
import { kerberosAlias } from './names/aliases.ts';
import type { Verifiers } from './verifiers.ts';

export interface LocalVerifiers {
  readonly people: Pick<People, 'getByAlias' | 'getVerifier'>;
  readonly admitted: Admitted;
}

/**
 * Creates the verifiers of the built-in directory. Each request asks the store once, whether or not the person
 * exists, so that a change has effect from the next request on.
 */
export function localVerifiers({ people, admitted }: LocalVerifiers): Verifiers {
  return {
    async find(kind, realm, who) {
      const found = await people.getVerifier(kind, realm, who);
      const person = active(found?.person, admitted);
      return found && person && { person: named(person), value: found.value };
    },

    async kerberos(principal) {
      const person = active(await people.getByAlias(kerberosAlias(principal)), admitted);
      return person && named(person);
    },
  };
}

const named = ({ id, name, profile }: PersonRecord) => ({ id, name, ...(profile && { profile }) });
