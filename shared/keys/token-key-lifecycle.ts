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

/** The times and parts of the life of the token issuer's keys. */
export interface TokenKeyLifecycle {
  readonly stores: Pick<Stores, 'tokenKeys' | 'revocations'>;
  readonly recorder?: Recorder;
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly times: TokenKeyTimes;
  readonly generate: TokenKeyGenerators;
}

/** Make a key pair of each type; they block nobody for long. */
export type TokenKeyGenerators = Readonly<
  Record<TokenType, (random: Random) => TokenKeyPair | Promise<TokenKeyPair>>
>;

export const GENERATE: TokenKeyGenerators = {
  [VOPRF]: generateVoprfKey,
  [BLIND_RSA]: generateBlindRsaKey,
};

/** The issuer has keys of each. */
export const ISSUED_TYPES: readonly TokenType[] = [VOPRF, BLIND_RSA];

/** Retired keys of a type whose truncated ids stay reserved; of all 256 enough are left for new ones. */
const RESERVED = 200;
/** Keys that are made for want of one with a free truncated id; with 200 of 256 taken five do. */
const TRIES = 256;

/**
 * All keys and what each does now, in the order in which they were added. Rejects with `StoreUnavailable`
 * while the store has no memory.
 */
export async function listTokenKeys({
  stores,
  clock,
  times,
}: Pick<TokenKeyLifecycle, 'stores' | 'clock' | 'times'>): Promise<readonly ScheduledTokenKey[]> {
  const keys = await stores.tokenKeys.list();
  // After the keys: none of them can be of an epoch that came later, and be retired for it.
  return scheduleTokenKeys(keys, await epochOf(stores), times, clock.now());
}

async function epochOf({ revocations }: TokenKeyLifecycle['stores']): Promise<string> {
  const epoch = await revocations.epoch(false);
  if (epoch === undefined)
    throw new StoreUnavailable('the store has no epoch: no authorization server has used it yet');
  return epoch;
}

const purpose = (type: TokenType, id: string) => `token-key ${type} ${id}`;

/** The private part of a key. Throws when the master secret is not the one it was sealed under. */
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
 * Makes the keys that are due, forgets the private part of retired ones, and of these the oldest beyond
 * what is reserved. `listed`: all keys as they are now. Resolves to whether anything was changed; rejects
 * when all else is done and a key that is due could not be made.
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
 * Publishes a new key that issues after the directory's `maxAge`; tokens of the older ones stay good for
 * the overlap. Throws when the type has no key yet, a rotation of it is under way, or the directory is full.
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
 * Ends all keys of a type, since others may hold them: no token of them is good at the very next request,
 * and a new key issues at once. Throws when the type has no key yet; after another error run it again.
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
    // It takes the place of the one that issues, so that it issues at once whatever the clocks say.
    const issuing = live.find(({ state }) => state === 'issuing');
    const notBefore = issuing?.key.notBefore ?? thisSecond(life.clock.now());
    // Before the others go: a directory without a key of the type is none.
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

/** Clients and origins refuse a directory of too many keys, whatever their types. */
function expectRoom(type: TokenType, ofType: readonly ScheduledTokenKey[]): void {
  const live = ofType.filter(({ state }) => state !== 'retired');
  if (live.length < MOST_LIVE) return;
  const { name } = TOKEN_TYPES[type];
  const next = new Date(Math.min(...live.map(({ until }) => until))).toISOString();
  throw new KeyRefusal(said('token-keys-full', { count: live.length, type: name, time: next }));
}

/** `ofType`: all keys of the type. Undefined: another process was faster. */
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
