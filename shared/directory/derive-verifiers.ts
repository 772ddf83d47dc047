import type { Random } from '#shared/random.ts';
import type { PersonRecord, RealmVerifiers, ScramHash, ScramKeys } from '#shared/stores/people.ts';
import { digestHash } from './digest-hash.ts';
import type { RealmNeeds } from './realms.ts';
import { SCRAM_ITERATIONS, SCRAM_SALT_BYTES, scramKeys } from './scram-keys.ts';

interface Secret {
  /** Exactly as it is kept. */
  readonly name: string;
  /** After OpaqueString (RFC 8265 section 4.2). */
  readonly password: string;
}

/**
 * By realm, what its schemes check a password with, and no more than they need. SCRAM's keys say nothing
 * of a realm (RFC 5802 section 3), so they are derived once, however many realms there are; it gets nothing
 * of a password that clients prepare in different ways (scram-keys.ts).
 */
export async function deriveVerifiers(
  realms: readonly RealmNeeds[],
  secret: Secret,
  random: Random,
): Promise<Readonly<Record<string, RealmVerifiers>>> {
  const { name, password } = secret;
  const hashes = [...new Set(realms.flatMap(({ scram }) => scram))];
  const derived = await Promise.all(hashes.map((hash) => keysOf(hash, password, random)));
  const keys = derived.flat();
  return Object.fromEntries(
    realms.map(({ realm, digest, scram }): [string, RealmVerifiers] => {
      const a1 = `${name}:${realm}:${password}`;
      return [
        realm,
        {
          digest: Object.fromEntries(digest.map((hash) => [hash, digestHash(hash, a1)])),
          scram: Object.fromEntries(keys.filter(([hash]) => scram.includes(hash))),
        },
      ];
    }),
  );
}

/** An entry, or none. */
async function keysOf(
  hash: ScramHash,
  password: string,
  random: Random,
): Promise<(readonly [ScramHash, ScramKeys])[]> {
  const salt = random(SCRAM_SALT_BYTES);
  const keys = await scramKeys(hash, password, salt, SCRAM_ITERATIONS);
  if (keys === undefined) return [];
  const kept = {
    salt: salt.toString('base64'),
    iterations: SCRAM_ITERATIONS,
    stored_key: keys.storedKey.toString('base64'),
    server_key: keys.serverKey.toString('base64'),
  };
  return [[hash, kept]];
}

/** What the realms need and is not kept of a person: there only a new password helps. */
export function lackingVerifiers(
  { verifiers = {} }: Pick<PersonRecord, 'verifiers'>,
  realms: readonly RealmNeeds[],
): RealmNeeds[] {
  return realms
    .map(({ realm, digest, scram }) => ({
      realm,
      digest: digest.filter((hash) => verifiers[realm]?.digest?.[hash] === undefined),
      scram: scram.filter((hash) => verifiers[realm]?.scram?.[hash] === undefined),
    }))
    .filter(({ digest, scram }) => digest.length + scram.length > 0);
}
