import type { Random } from '#shared/base/random.ts';
import type { DigestRow, ScramHash, ScramKeys, WholePerson } from '#shared/stores/people.ts';
import { digestHash, userhashOf } from './digest-hash.ts';
import type { RealmNeeds } from './realms.ts';
import { SCRAM_ITERATIONS, SCRAM_SALT_BYTES, scramKeys } from './scram-keys.ts';

interface Secret {
  /** Exactly as it is kept. */
  readonly name: string;
  /** After OpaqueString (RFC 8265 section 4.2). */
  readonly password: string;
}

/** All that is kept of a password beside its hash. */
export interface Derived {
  readonly scram: Readonly<Partial<Record<ScramHash, ScramKeys>>>;
  readonly digests: readonly DigestRow[];
}

/**
 * What the schemes of these realms check a password with, and no more than they need. SCRAM's keys say
 * nothing of a realm (RFC 5802 section 3), so they are derived once, however many realms there are; it gets
 * nothing of a password that clients prepare in different ways (scram-keys.ts).
 */
export async function deriveVerifiers(
  realms: readonly RealmNeeds[],
  { name, password }: Secret,
  random: Random,
): Promise<Derived> {
  const hashes = [...new Set(realms.flatMap(({ scram }) => scram))];
  const keys = await Promise.all(hashes.map((hash) => keysOf(hash, password, random)));
  const digests = realms.flatMap(({ realm, digest }) =>
    digest.map((hash) => ({
      realm,
      hash,
      ha1: digestHash(hash, `${name}:${realm}:${password}`),
      userhash: userhashOf(hash, name, realm),
    })),
  );
  return { scram: Object.fromEntries(keys.flat()), digests };
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
  { person: { scram: keys = {} }, digests }: WholePerson,
  realms: readonly RealmNeeds[],
): RealmNeeds[] {
  const kept = new Set(digests.map(({ realm, hash }) => `${hash} ${realm}`));
  return realms
    .map(({ realm, digest, scram }) => ({
      realm,
      digest: digest.filter((hash) => !kept.has(`${hash} ${realm}`)),
      scram: scram.filter((hash) => keys[hash] === undefined),
    }))
    .filter(({ digest, scram }) => digest.length + scram.length > 0);
}
