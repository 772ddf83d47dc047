import type { People, PersonRecord } from '#shared/stores/people.ts';
import { active } from './active.ts';
import { kerberosAlias, userhashAlias, userhashOf } from './aliases.ts';
import { usernameCaseMapped } from './precis.ts';
import type { DigestVerifier, Verifiers } from './verifiers.ts';

export interface LocalVerifiers {
  readonly people: Pick<People, 'getByName' | 'getByAlias'>;
  /** Whether the person that the first start made may be let in (never in production). */
  readonly demo: boolean;
}

/**
 * The verifiers of the built-in directory: one question to the store for everybody, whether or not they
 * are there, at each request, so that a change counts from the next one on.
 */
export function localVerifiers({ people, demo }: LocalVerifiers): Verifiers {
  const byName = async (name: string) => active(await people.getByName(name), demo);
  const byAlias = async (alias: string) => active(await people.getByAlias(alias), demo);

  return {
    async digest(realm, hash, username) {
      return digestVerifier(await byName(username), realm, hash);
    },

    async digestByUserhash(realm, hash, userhash) {
      const person = await byAlias(userhashAlias(hash, userhash));
      const ofRealm = person && userhashOf(hash, person.name, realm) === userhash;
      return digestVerifier(ofRealm ? person : undefined, realm, hash);
    },

    async scram(realm, hash, username) {
      const person = await byName(usernameCaseMapped(username) ?? '');
      const keys = person?.verifiers?.[realm]?.scram?.[hash];
      if (person === undefined || keys === undefined) return undefined;
      return {
        person: named(person),
        salt: Buffer.from(keys.salt, 'base64'),
        iterations: keys.iterations,
        storedKey: Buffer.from(keys.stored_key, 'base64'),
        serverKey: Buffer.from(keys.server_key, 'base64'),
      };
    },

    async kerberos(principal) {
      const person = await byAlias(kerberosAlias(principal));
      return person && named(person);
    },
  };
}

const named = ({ id, name }: PersonRecord) => ({ id, name });

function digestVerifier(
  person: PersonRecord | undefined,
  realm: string,
  hash: Parameters<Verifiers['digest']>[1],
): DigestVerifier | undefined {
  const ha1 = person?.verifiers?.[realm]?.digest?.[hash];
  return person && ha1 !== undefined ? { person: named(person), ha1 } : undefined;
}
