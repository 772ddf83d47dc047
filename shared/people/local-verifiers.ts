import type { DigestHash } from '#shared/http/auth/digest-algorithms.ts';
import type { DigestName, People, PersonRecord } from '#shared/stores/people.ts';
import { active } from './active.ts';
import { kerberosAlias } from './names/aliases.ts';
import { usernameCaseMapped } from './names/precis.ts';
import type { Verifiers } from './verifiers.ts';

export interface LocalVerifiers {
  readonly people: Pick<People, 'getByName' | 'getByAlias' | 'getDigest'>;
  /** Whether the person that the first start made may be let in (never in production). */
  readonly demo: boolean;
}

/**
 * The verifiers of the built-in directory: one question to the store for everybody, whether or not they
 * are there, at each request, so that a change counts from the next one on.
 */
export function localVerifiers({ people, demo }: LocalVerifiers): Verifiers {
  const digest = async (realm: string, hash: DigestHash, who: DigestName) => {
    const found = await people.getDigest(realm, hash, who);
    const person = active(found?.person, demo);
    return found && person && { person: named(person), ha1: found.ha1 };
  };

  return {
    digest: (realm, hash, name) => digest(realm, hash, { name }),

    digestByUserhash: (realm, hash, userhash) => digest(realm, hash, { userhash }),

    async scram(hash, username) {
      const person = active(await people.getByName(usernameCaseMapped(username) ?? ''), demo);
      const keys = person?.scram?.[hash];
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
      const person = active(await people.getByAlias(kerberosAlias(principal)), demo);
      return person && named(person);
    },
  };
}

const named = ({ id, name }: PersonRecord) => ({ id, name });
