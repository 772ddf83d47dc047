import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import type { Recorder } from '#shared/audit/recorder.ts';
import type { Clock } from '#shared/base/clock.ts';
import {
  longestLife,
  longestStatementLife,
  rememberUntil,
} from '#shared/stores/revocation/lifetime.ts';
import type { Random } from '#shared/base/random.ts';
import type { KeyTable, StoredKey } from '#shared/stores/keys/keys.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { KeyRefusal } from './key-refusal.ts';
import { scheduleKeys } from './signing-key-schedule.ts';
import type { ScheduledKey } from './signing-key-schedule.ts';
import { seal, unseal } from './seal.ts';
import { said } from '#shared/refusals/operations.ts';

type Alg = StoredKey['alg'];
export type Jwk = Readonly<Record<string, unknown>>;

/** The times and stores of the life of keys; times in seconds. */
export interface KeyLifecycle {
  readonly stores: Pick<Stores, KeyTable | 'revocations'>;
  readonly recorder?: Recorder;
  /** The table of the keys: that of the authorization server or that of the gateway. */
  readonly table: KeyTable;
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Time from publishing a key to signing with it: at least the max-age of the JWKS plus the resource server's
   * cooldown.
   */
  readonly overlap: number;
  /** Longest life of tokens that the keys sign, plus skew. */
  readonly longestLife: number;
}

/** For each table: the purpose under which its private keys are sealed, and the longest life of what they sign. */
const TABLES = {
  keys: { purpose: (kid: string) => kid, longestLife },
  gatewayKeys: {
    purpose: (kid: string) => `gateway-key ${kid}`,
    longestLife: longestStatementLife,
  },
};

/** Returns the lifetimes of the keys of a table, from the configuration. */
export function keyLifecycle(
  table: KeyTable,
  { stores, master, clock, random, recorder, config }: LifecycleParts,
): KeyLifecycle {
  const { overlap } = config.jwks;
  const life = TABLES[table].longestLife(config);
  const recorded = recorder && { recorder };
  return { stores, ...recorded, table, master, clock, random, overlap, longestLife: life };
}

type LifecycleParts = Pick<KeyLifecycle, 'stores' | 'master' | 'clock' | 'random' | 'recorder'> & {
  readonly config: Parameters<typeof longestLife>[0] & {
    readonly jwks: Pick<KeyLifecycle, 'overlap'>;
  };
};

const GENERATE: Record<Alg, () => { publicKey: Jwk; privateKey: Jwk }> = {
  ES256: () => exported(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  RS256: () => exported(generateKeyPairSync('rsa', { modulusLength: 2048 })),
  EdDSA: () => exported(generateKeyPairSync('ed25519')),
};

function exported(pair: Record<'publicKey' | 'privateKey', KeyObject>) {
  return {
    publicKey: { ...pair.publicKey.export({ format: 'jwk' }) },
    privateKey: { ...pair.privateKey.export({ format: 'jwk' }) },
  };
}

async function newKey(life: KeyLifecycle, alg: Alg, signsFrom: number): Promise<StoredKey> {
  const pair = GENERATE[alg]();
  const kid = await calculateJwkThumbprint(pair.publicKey);
  const names = { kid, alg, use: 'sig' };
  const text = JSON.stringify({ ...pair.privateKey, ...names });
  return {
    kid,
    alg,
    publicJwk: { ...pair.publicKey, ...names },
    sealed: seal(life.master, TABLES[life.table].purpose(kid), text, life.random),
    publishedAt: life.clock.now(),
    signsFrom,
  };
}

/** Returns the private JWK of a stored key. Throws if it was sealed under another master secret. */
export function privateJwk(
  { master, table }: Pick<KeyLifecycle, 'master' | 'table'>,
  key: StoredKey,
): Jwk {
  let text: string;
  try {
    text = unseal(master, TABLES[table].purpose(key.kid), key.sealed);
  } catch (cause) {
    throw new Error(
      'the signing keys in the store do not open under this master secret: give the secret they were made with (COUNTERSIGN_SECRET_FILE, or in development the file secret in the data folder), or rotate them away with the old one',
      { cause },
    );
  }
  return JSON.parse(text) as Jwk;
}

export async function listKeys(life: KeyLifecycle): Promise<readonly ScheduledKey[]> {
  return scheduleKeys(
    await life.stores[life.table].list(),
    life.clock.now(),
    life.longestLife * 1000,
  );
}

/** Makes a key for each alg that has none, at the first start. Two processes at once make only one. */
export async function ensureKeys(life: KeyLifecycle, algs: Iterable<Alg>): Promise<void> {
  const present = new Set((await life.stores[life.table].list()).map(({ alg }) => alg));
  for (const alg of new Set(algs)) {
    if (present.has(alg)) continue;
    await addKey(life, await newKey(life, alg, life.clock.now()), alg);
  }
}

/** Adds a key and records it. Returns false if another process has added the first key of its alg. */
async function addKey(life: KeyLifecycle, key: StoredKey, unlessOneOf?: Alg): Promise<boolean> {
  const keys = life.recorder?.changing(life.table, { kind: 'signing-key.added', key: key.kid });
  return (keys ?? life.stores[life.table]).add(key, unlessOneOf);
}

/**
 * Publishes a new key that signs after the overlap; no valid token is refused at any time. Throws if the alg has no
 * key yet, or if its rotation is under way.
 */
export async function rotateKey(life: KeyLifecycle, alg: Alg): Promise<StoredKey> {
  const ofAlg = (await listKeys(life)).filter(({ key }) => key.alg === alg);
  if (ofAlg.length === 0) throw new KeyRefusal(said('no-key-to-rotate', { alg }));
  const pending = ofAlg.find(({ state }) => state === 'published');
  if (pending?.until !== undefined) {
    throw new KeyRefusal(
      said('rotation-under-way', {
        kid: pending.key.kid,
        time: new Date(pending.until).toISOString(),
      }),
    );
  }
  const key = await newKey(life, alg, life.clock.now() + life.overlap * 1000);
  await addKey(life, key);
  return key;
}

/**
 * Ends a compromised key. This pair refuses what it signed from the next request on, and if the key was signing, a
 * new key signs at once. Throws if the key does not exist. Resolves to the new key.
 */
export async function endCompromisedKey(
  life: KeyLifecycle,
  kid: string,
): Promise<StoredKey | undefined> {
  // The sweep comes first: a key that the removed key had retired must keep its successor.
  await sweepKeys(life);
  const old = (await listKeys(life)).find(({ key }) => key.kid === kid);
  if (old === undefined) throw new KeyRefusal(said('no-key', { id: kid }));
  // The new key gets `signsFrom` of the old key, so that it signs at once even if the servers' clocks differ.
  const { alg, signsFrom } = old.key;
  const key = old.state === 'signing' ? await newKey(life, alg, signsFrom) : undefined;
  if (key !== undefined) await addKey(life, key);
  const until = rememberUntil(life.clock.now(), life.longestLife);
  const removed = { kind: 'signing-key.removed', key: kid } as const;
  const { revocations } = life.stores;
  await (life.recorder?.changing('revocations', removed) ?? revocations).revoke('key', kid, until);
  await life.stores[life.table].remove(kid);
  return key;
}

/** Removes the rows of keys whose tokens have all expired; resolves to their number. */
export async function sweepKeys(life: KeyLifecycle): Promise<number> {
  const retired = (await listKeys(life)).filter(({ state }) => state === 'retired');
  for (const { key } of retired) await life.stores[life.table].remove(key.kid);
  return retired.length;
}
