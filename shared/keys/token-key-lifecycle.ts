import type { Recorder } from '#shared/audit/recorder.ts';
import type { Clock } from '#shared/base/clock.ts';
import { KeyRefusal } from './key-refusal.ts';
import { seal, unseal } from './seal.ts';
import type { Random } from '#shared/base/random.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { StoredTokenKey } from '#shared/stores/keys/token-keys.ts';
import { generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import {
  MOST_LIVE,
  nextNotBefore,
  type ScheduledTokenKey,
  scheduleTokenKeys,
  thisSecond,
  type TokenKeyTimes,
} from './token-key-schedule.ts';
import {
  BLIND_RSA,
  TOKEN_TYPES,
  type TokenType,
  VOPRF,
} from '#shared/private-token/token-types.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { said } from '#shared/refusals/operations.ts';

/** The times and stores of the life of the token issuer's keys. */
export interface TokenKeyLifecycle {
  readonly stores: Pick<Stores, 'tokenKeys' | 'revocations'>;
  readonly recorder?: Recorder;
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly times: TokenKeyTimes;
  readonly generate: TokenKeyGenerators;
}

/** Functions that make a key pair of each type, without blocking other work for long. */
export type TokenKeyGenerators = Readonly<
  Record<TokenType, (random: Random) => TokenKeyPair | Promise<TokenKeyPair>>
>;

export const GENERATE: TokenKeyGenerators = {
  [VOPRF]: generateVoprfKey,
  [BLIND_RSA]: generateBlindRsaKey,
};

/** The types of keys that the issuer has. */
export const ISSUED_TYPES: readonly TokenType[] = [VOPRF, BLIND_RSA];

/** How many retired keys of a type reserve their truncated ids; of all 256 ids enough are left for new keys. */
const RESERVED = 200;
/** How many keys are made at most to find a free truncated id; with 200 of 256 ids taken, five are usually enough. */
const TRIES = 256;

/**
 * Lists all keys with their present state, in the order in which they were added. Rejects with `StoreUnavailable`
 * while the store has no epoch.
 */
export async function listTokenKeys({
  stores,
  clock,
  times,
}: Pick<TokenKeyLifecycle, 'stores' | 'clock' | 'times'>): Promise<readonly ScheduledTokenKey[]> {
  const keys = await stores.tokenKeys.list();
  // The epoch is read after the keys: no key can then be of a later epoch, and be retired for that reason.
  return scheduleTokenKeys(keys, await epochOf(stores), times, clock.now());
}

async function epochOf({ revocations }: TokenKeyLifecycle['stores']): Promise<string> {
  const epoch = await revocations.epoch(false);
  if (epoch === undefined)
    throw new StoreUnavailable('the store has no epoch: no authorization server has used it yet');
  return epoch;
}

const purpose = (type: TokenType, id: string) => `token-key ${type} ${id}`;

/** Returns the private part of a key. Throws if it was sealed under another master secret. */
export function openTokenKey(master: Buffer, { type, id, sealed = '' }: StoredTokenKey): Buffer {
  try {
    return Buffer.from(unseal(master, purpose(type, id), sealed), 'base64url');
  } catch (cause) {
    throw new Error(
      'the keys of the token issuer in the store do not open under this master secret: give the secret they were made with',
      { cause },
    );
  }
}

/**
 * Makes the keys that are due. It removes the private part of retired keys, and the oldest retired keys over the
 * reserved number. `listed`: all keys now. Resolves to whether it changed anything. Rejects, after everything else is
 * done, if a due key could not be made.
 */
export async function keepTokenKeys(
  life: TokenKeyLifecycle,
  listed: readonly ScheduledTokenKey[],
): Promise<boolean> {
  const work = await Promise.allSettled(
    ISSUED_TYPES.flatMap((type) => {
      const ofType = listed.filter(({ key }) => key.type === type);
      return [makeDueKey(life, type, ofType), forgetRetired(life, ofType)];
    }),
  );
  const failed = work.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return work.some((one) => one.status === 'fulfilled' && one.value);
}

async function makeDueKey(
  life: TokenKeyLifecycle,
  type: TokenType,
  ofType: readonly ScheduledTokenKey[],
): Promise<boolean> {
  const notBefore = nextNotBefore(ofType, life.times, life.clock.now());
  if (notBefore === undefined) return false;
  expectRoom(type, ofType);
  await addKey(life, type, notBefore, ofType);
  return true;
}

async function forgetRetired(
  { stores }: TokenKeyLifecycle,
  ofType: readonly ScheduledTokenKey[],
): Promise<boolean> {
  const retired = ofType.filter(({ state }) => state === 'retired').map(({ key }) => key);
  const unreserved = retired.slice(0, Math.max(0, retired.length - RESERVED));
  const open = retired.slice(unreserved.length).filter(({ sealed }) => sealed !== undefined);
  for (const { type, id } of open) await stores.tokenKeys.retire(type, id);
  for (const { type, id } of unreserved) await stores.tokenKeys.remove(type, id);
  return open.length + unreserved.length > 0;
}

/**
 * Publishes a new key that issues after the directory's `maxAge`; tokens of older keys stay valid for the overlap.
 * Throws if the type has no key yet, if its rotation is under way, or if the directory is full.
 */
export async function rotateTokenKey(
  life: TokenKeyLifecycle,
  type: TokenType,
): Promise<StoredTokenKey> {
  const { name } = TOKEN_TYPES[type];
  const ofType = (await listTokenKeys(life)).filter(({ key }) => key.type === type);
  const newest = ofType.findLast(({ state }) => state !== 'retired');
  if (newest === undefined) throw noneYet(type);
  if (newest.state === 'published') throw underWay(name, newest.key);
  const notBefore = Math.ceil(life.clock.now() / 1000 + life.times.maxAge) * 1000;
  expectRoom(type, ofType);
  const key = await addKey(life, type, notBefore, ofType);
  if (key === undefined) throw underWay(name);
  return key;
}

/**
 * Ends all keys of a type because they may be compromised. The next request refuses their tokens, and a new key
 * issues at once. Throws if the type has no key yet; after another error repeat the call.
 */
export async function replaceCompromisedTokenKeys(
  life: TokenKeyLifecycle,
  type: TokenType,
): Promise<{ readonly ended: readonly StoredTokenKey[]; readonly key: StoredTokenKey }> {
  const { tokenKeys } = life.stores;
  for (;;) {
    const ofType = (await listTokenKeys(life)).filter(({ key }) => key.type === type);
    const live = ofType.filter(({ state }) => state !== 'retired');
    if (live.length === 0) throw noneYet(type);
    // The new key replaces the issuing key, so that it issues at once whatever the clocks say.
    const issuing = live.find(({ state }) => state === 'issuing');
    const notBefore = issuing?.key.notBefore ?? thisSecond(life.clock.now());
    // The new key is added before the old ones are removed, since a directory without a key of the type would be
    // invalid.
    const key = await addKey(life, type, notBefore, ofType);
    if (key === undefined) continue;
    const ended = live.map((one) => one.key);
    const retiring = ended.map(({ id }) => tokenKeys.retire(type, id));
    await Promise.allSettled(retiring);
    await tokenKeys.recall();
    await Promise.all(retiring);
    return { ended, key };
  }
}

const underWay = (name: string, next?: StoredTokenKey) =>
  new KeyRefusal(
    next
      ? said('token-key-next', { type: name, time: new Date(next.notBefore).toISOString() })
      : said('token-key-under-way', { type: name }),
  );

const noneYet = (type: TokenType) =>
  new KeyRefusal(said('no-token-key', { type: TOKEN_TYPES[type].name }));

/** Throws if the directory is full: clients and origins refuse a directory with too many keys of any types. */
function expectRoom(type: TokenType, ofType: readonly ScheduledTokenKey[]): void {
  const live = ofType.filter(({ state }) => state !== 'retired');
  if (live.length < MOST_LIVE) return;
  const { name } = TOKEN_TYPES[type];
  const next = new Date(Math.min(...live.map(({ until }) => until))).toISOString();
  throw new KeyRefusal(said('token-keys-full', { count: live.length, type: name, time: next }));
}

/** Adds a key. `ofType`: all keys of the type. Resolves to undefined if another process was faster. */
async function addKey(
  { stores, recorder, master, random, generate, times }: TokenKeyLifecycle,
  type: TokenType,
  notBefore: number,
  ofType: readonly ScheduledTokenKey[],
): Promise<StoredTokenKey | undefined> {
  const newest = ofType.at(-1)?.key.id;
  const epoch = await epochOf(stores);
  for (let tried = 0; tried < TRIES; tried += 1) {
    const pair = await generate[type](random);
    const id = pair.id.toString('base64url');
    const key = {
      type,
      id,
      publicKey: pair.publicKey.toString('base64url'),
      sealed: seal(master, purpose(type, id), pair.privateKey.toString('base64url'), random),
      notBefore,
      until: notBefore + (times.rotation + times.overlap) * 1000,
      epoch,
    };
    const event = { kind: 'token-keys.rotated', what: TOKEN_TYPES[type].name } as const;
    const tokenKeys = recorder?.changing('tokenKeys', event) ?? stores.tokenKeys;
    const outcome = await tokenKeys.add(key, newest);
    if (outcome === 'added') return key;
    if (outcome === 'late') return undefined;
  }
  throw new KeyRefusal(said('no-token-key-id', { type: TOKEN_TYPES[type].name }));
}
