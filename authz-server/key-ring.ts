import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { ensureKeys, listKeys, privateJwk, sweepKeys } from '#shared/jose/keys.ts';
import type { Jwk, KeyLifecycle } from '#shared/jose/keys.ts';
import type { StoredKey } from '#shared/stores/keys.ts';

type Alg = StoredKey['alg'];

/** The keys of one moment: what is published, and which of it signs. */
export interface KeySet {
  /** Private JWKs of all published keys; of each alg the one that signs comes first. */
  readonly jwks: readonly Jwk[];
  signingKid(alg: Alg): string | undefined;
  publicKey(kid: string): KeyObject | undefined;
  /** Equal for equal sets. */
  readonly id: string;
}

/** The signing keys as this process has them; every process reads the same rows. */
export interface KeyRing {
  readonly current: KeySet;
  /** Reads the rows again; resolves to whether the set has changed. */
  refresh(): Promise<boolean>;
  /** Forgets keys whose tokens have all expired. */
  sweep(): Promise<number>;
}

/** Opens the ring, and makes what keys are missing. */
export async function openKeyRing(life: KeyLifecycle, algs: readonly Alg[]): Promise<KeyRing> {
  await ensureKeys(life, algs);
  let current = await readKeys(life);
  return {
    get current() {
      return current;
    },
    async refresh() {
      const next = await readKeys(life);
      if (next.id === current.id) return false;
      current = next;
      return true;
    },
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
    jwks: published.map(({ key }) => privateJwk(life.master, key)),
    signingKid: (alg) => signing.get(alg),
    publicKey: (kid) => publicKeys.get(kid),
    id: published.map(({ key, state }) => `${key.kid} ${state}`).join('\n'),
  };
}
