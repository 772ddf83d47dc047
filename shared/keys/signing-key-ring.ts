import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { forAll } from '#shared/base/for-all.ts';
import { ensureKeys, listKeys, privateJwk, sweepKeys } from './signing-key-lifecycle.ts';
import type { Jwk, KeyLifecycle } from './signing-key-lifecycle.ts';
import type { StoredKey } from '#shared/stores/keys/keys.ts';

type Alg = StoredKey['alg'];

/** The keys at one moment: all published keys, and the signing keys. */
export interface KeySet {
  /** Private JWKs of all published keys; the signing key of each alg comes first. */
  readonly jwks: readonly Jwk[];
  /** The public parts of these keys (RFC 7517), in the order of `jwks`. */
  readonly publicJwks: readonly Jwk[];
  signingKid(alg: Alg): string | undefined;
  publicKey(kid: string): KeyObject | undefined;
  /** An id that is equal for equal sets. */
  readonly id: string;
}

/** The keys of a table in this process; every process reads the same rows. */
export interface KeyRing {
  readonly current: KeySet;
  /** Reads the rows again, once for all concurrent callers; until then `current` stays the same. */
  refresh(): Promise<void>;
  /** Removes keys whose tokens have all expired. */
  sweep(): Promise<number>;
}

/** Opens the ring. It makes missing keys, also if the store has lost its data since. */
export async function openKeyRing(life: KeyLifecycle, algs: readonly Alg[]): Promise<KeyRing> {
  const read = async () => {
    const found = await readKeys(life);
    if (algs.every((alg) => found.signingKid(alg) !== undefined)) return found;
    await ensureKeys(life, algs);
    return readKeys(life);
  };
  let current = await read();
  return {
    get current() {
      return current;
    },
    refresh: forAll(async () => {
      const next = await read();
      if (next.id !== current.id) current = next;
    }),
    sweep: () => sweepKeys(life),
  };
}

async function readKeys(life: KeyLifecycle): Promise<KeySet> {
  const live = (await listKeys(life)).filter(({ state }) => state !== 'retired');
  const signing = new Map(
    live.flatMap(({ key, state }) => (state === 'signing' ? [[key.alg, key.kid] as const] : [])),
  );
  const published = live.toSorted(
    (a, b) => Number(b.state === 'signing') - Number(a.state === 'signing'),
  );
  const publicKeys = new Map(
    live.map(({ key }) => [key.kid, createPublicKey({ key: { ...key.publicJwk }, format: 'jwk' })]),
  );
  return {
    jwks: published.map(({ key }) => privateJwk(life, key)),
    publicJwks: published.map(({ key }) => key.publicJwk),
    signingKid: (alg) => signing.get(alg),
    publicKey: (kid) => publicKeys.get(kid),
    id: published.map(({ key, state }) => `${key.kid} ${state}`).join('\n'),
  };
}
