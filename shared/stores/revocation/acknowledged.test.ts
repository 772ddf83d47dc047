import { beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { acknowledged } from './acknowledged.ts';
import type { FollowedProcess, Following } from './followers.ts';
import type { Revocations } from './revocations.ts';
import { eventually } from '../contract/eventually.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';

const LEASE = 2_000;
const EPOCH = 'an epoch';

let following: Following;
let looks: number;
let written: number;
let removed: FollowedProcess[];
let settled: (string | undefined)[];
let now: number;
let down: boolean;
let revocations: Revocations;

const someProcess = (changes: Partial<FollowedProcess> = {}): FollowedProcess => ({
  id: 'a process',
  confirmed: 0,
  lease: LEASE,
  beat: 1,
  ...changes,
});

beforeEach(() => {
  following = { epoch: EPOCH, last: 7, processes: [], settled: true };
  [looks, written, now, down] = [0, 0, 0, false];
  [removed, settled] = [[], []];
  const store: Revocations = {
    revoke: async () => void (written += 1),
    raise: async () => (written += 1),
    untilKnown: async () => {},
    generation: async () => 0,
    epoch: async () => EPOCH,
    feed: () => Promise.reject(new Error('nobody asks for it')),
  };
  revocations = acknowledged(store, {
    followers: {
      async look() {
        looks += 1;
        if (down) throw new StoreUnavailable('down');
        return following;
      },
      put: async () => true,
      async remove(process) {
        removed.push(process);
        following = { ...following, processes: [] };
      },
      async settle(epoch) {
        settled.push(epoch);
        following = { ...following, settled: true };
      },
      page: () => Promise.reject(new Error('nobody asks for it')),
    },
    lease: LEASE,
    monotonic: () => now,
  });
});

const revoke = () => revocations.revoke('token', 'x', 1);

/** Whether the revocation is acknowledged within a few queries. */
async function isAcknowledged(waiting: Promise<unknown>): Promise<boolean> {
  const enough = looks + 3;
  const acknowledgement = waiting.then(() => true);
  for (;;) {
    const is = await Promise.race([acknowledgement, sleep(1).then(() => false)]);
    if (is || looks >= enough) return is;
  }
}

describe('an acknowledgement', () => {
  test('takes one query if there are no followers', async () => {
    await revoke();
    expect([written, looks]).toEqual([1, 1]);
    expect(await revocations.raise('person', 'x', 1)).toBe(2);
    expect(looks).toBe(2);
  });

  test('waits until each process has written that its followers have the revocation', async () => {
    const [first, second] = [someProcess({ id: 'first' }), someProcess({ id: 'second' })];
    following = { ...following, processes: [first, second] };
    const waiting = revoke();
    expect(await isAcknowledged(waiting)).toBe(false);
    following = { ...following, processes: [{ ...first, confirmed: 7, beat: 2 }, second] };
    expect(await isAcknowledged(waiting)).toBe(false);
    const also = { ...second, confirmed: 8, beat: 2 };
    following = {
      ...following,
      last: 9,
      processes: [{ ...first, confirmed: 7, beat: 2 }, also],
    };
    expect(await isAcknowledged(waiting)).toBe(true);
    expect(removed).toEqual([]);
  });

  test('waits for the followers, too, if another process has already revoked the token', async () => {
    const process = someProcess();
    following = { ...following, processes: [process] };
    const waiting = revocations.untilKnown();
    expect(await isAcknowledged(waiting)).toBe(false);
    following = { ...following, processes: [{ ...process, confirmed: 7, beat: 2 }] };
    expect(await isAcknowledged(waiting)).toBe(true);
    expect(written).toBe(0);
  });

  test('waits at most a lease and its margin for a process that still writes', async () => {
    following = { ...following, processes: [someProcess()] };
    const waiting = revoke();
    await isAcknowledged(waiting);
    now = 1.25 * LEASE;
    following = { ...following, processes: [someProcess({ beat: 2 })] };
    expect(await isAcknowledged(waiting)).toBe(false);
    now += 1;
    expect(await isAcknowledged(waiting)).toBe(true);
    expect(removed).toEqual([]);
  });

  test('a process that writes nothing for a lease is removed, and the next revocation does not wait for it', async () => {
    following = { ...following, processes: [someProcess()] };
    const waiting = revoke();
    expect(await isAcknowledged(waiting)).toBe(false);
    now = 1.25 * LEASE + 1;
    await waiting;
    expect(removed).toEqual([someProcess()]);
    expect(await isAcknowledged(revoke())).toBe(true);
  });

  test('uses the lease of each process', async () => {
    following = { ...following, processes: [someProcess({ lease: 10 * LEASE })] };
    const waiting = revoke();
    await isAcknowledged(waiting);
    now = 10 * LEASE;
    expect(await isAcknowledged(waiting)).toBe(false);
    now = 12.5 * LEASE + 1;
    expect(await isAcknowledged(waiting)).toBe(true);
  });

  test('after a new epoch waits once for the followers of the former epoch', async () => {
    following = { ...following, settled: false };
    const waiting = revoke();
    expect(await isAcknowledged(waiting)).toBe(false);
    now = 1.25 * LEASE + 1;
    expect(await isAcknowledged(waiting)).toBe(true);
    expect(settled).toEqual([EPOCH]);
    expect(await isAcknowledged(revoke())).toBe(true);
  });

  test('no longer waits once a server has run for a lease, even if an earlier server made the epoch and failed', async () => {
    following = { ...following, settled: false };
    const { epoch } = revocations;
    for (let n = 0; n < 3; n += 1) expect(await epoch(true)).toBe(EPOCH);
    await eventually(() => expect(looks).toBeGreaterThan(0));
    now = 1.25 * LEASE + 1;
    await eventually(() => expect(settled).toEqual([EPOCH]));
    const before = looks;
    await epoch(true);
    expect(looks).toBe(before);
    expect(await isAcknowledged(revoke())).toBe(true);
  });

  test('uses one query at a time for all revocations that arrive together', async () => {
    await Promise.all(Array.from({ length: 100 }, revoke));
    expect(written).toBe(100);
    expect(looks).toBeLessThanOrEqual(2);
  });

  test('waits for the writes of a process that starts later', async () => {
    following = { ...following, processes: [someProcess({ confirmed: 6 })] };
    const first = revoke();
    expect(await isAcknowledged(first)).toBe(false);
    following = { ...following, last: 8 };
    const second = revoke();
    expect(await isAcknowledged(second)).toBe(false);
    following = { ...following, processes: [someProcess({ confirmed: 7, beat: 2 })] };
    expect(await isAcknowledged(first)).toBe(true);
    expect(await isAcknowledged(second)).toBe(false);
    following = { ...following, processes: [someProcess({ confirmed: 8, beat: 3 })] };
    expect(await isAcknowledged(second)).toBe(true);
  });

  test('fails if the store does not answer, although the revocation may be valid', async () => {
    following = { ...following, processes: [someProcess()] };
    const waiting = revoke();
    await isAcknowledged(waiting);
    down = true;
    await expect(waiting).rejects.toThrow(StoreUnavailable);
    expect(written).toBe(1);
    down = false;
    following = { ...following, processes: [] };
    await revoke();
  });
});
