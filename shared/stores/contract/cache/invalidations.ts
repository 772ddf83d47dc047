import { describe, expect, test } from '@jest/globals';
import {
  type Invalidation,
  type KeptInvalidation,
  LONGEST_INVALIDATION,
  MOST_INVALIDATION_OCTETS,
} from '../../cache/invalidations.ts';
import type { Stores } from '../../stores.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { eventually } from '../eventually.ts';
import { fresh, someInvalidation } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** Opens a feed that records what a cache would hear, in order. */
export async function listening({ invalidations }: Stores, from?: string) {
  const heard: (KeptInvalidation | 'lost')[] = [];
  const listener = {
    apply: (invalidation: KeptInvalidation) => void heard.push(invalidation),
    lost: () => void heard.push('lost'),
  };
  const feed = await invalidations.feed(listener, from);
  return {
    feed,
    heard,
    /** Returns all invalidations that are new by now. */
    async hear() {
      await feed.latest(Infinity);
      return heard.splice(0);
    },
    [Symbol.asyncDispose]: () => feed[Symbol.asyncDispose](),
  };
}

export function invalidationsContract(contract: () => Contract): void {
  /** Gets the epoch. If the store is slow for a moment, it is asked again. */
  const withEpoch = () => eventually(() => contract().one.revocations.epoch(true));
  const valuesOf = (heard: readonly (KeptInvalidation | 'lost')[]) =>
    heard.map((each) => (each === 'lost' ? each : each.value));

  describe('invalidations', () => {
    test('every open feed gets an added entry once, unchanged and in order', async () => {
      const { one, other, store } = contract();
      await withEpoch();
      await one.invalidations.add([someInvalidation('before')]);
      await using first = await listening(one);
      await using second = await listening(other);
      const added: Invalidation[] = [
        { space: 'https://a.example/', kind: 'target', value: '/x?q=ä%20"', soft: false },
        { space: '/b', kind: 'tree', value: '', soft: true },
        { space: '', kind: 'ban', value: '{"path":"/*"}', soft: false },
      ];
      await one.invalidations.add(added);
      await other.invalidations.add([someInvalidation('last')]);
      const expected = [...added, someInvalidation('last')];
      for (const { hear } of [first, second]) {
        const heard = await hear();
        expect(heard).toMatchObject(expected);
        const clocks = [store.clock.now(), Date.now()];
        for (const each of heard) {
          if (each === 'lost') throw new Error('lost');
          const off = clocks.map((now) => Math.abs(each.at - now));
          expect(Math.min(...off)).toBeLessThan(3_600_000);
        }
        expect(await hear()).toEqual([]);
      }
    });

    test('every feed has an acknowledged invalidation at its next query, with eight callers at a time', async () => {
      const { one, other } = contract();
      await withEpoch();
      await using first = await listening(one);
      await using second = await listening(other);
      const addAndAsk = async () => {
        for (let turn = 0; turn < 25; turn += 1) {
          const value = fresh();
          await (turn % 2 === 0 ? one : other).invalidations.add([someInvalidation(value)]);
          await Promise.all([first, second].map(async ({ feed }) => feed.latest(Infinity)));
          for (const { heard } of [first, second]) expect(valuesOf(heard)).toContain(value);
        }
      };
      await Promise.all(Array.from({ length: 8 }, addAndAsk));
      expect(first.heard).toEqual(second.heard);
      expect(new Set(valuesOf(first.heard)).size).toBe(200);
      expect(first.heard).toHaveLength(200);
    });

    test('a feed answers a caller from before its last query at once; later callers wait for the next query', async () => {
      const { one, other, store } = contract();
      await withEpoch();
      await using listener = await listening(one);
      const arrived = store.clock.monotonic();
      await store.passSeconds(1);
      await listener.feed.latest(store.clock.monotonic());
      await other.invalidations.add([someInvalidation('since')]);
      await listener.feed.latest(arrived);
      expect(listener.heard).toEqual([]);
      await listener.feed.latest(store.clock.monotonic());
      expect(valuesOf(listener.heard)).toEqual(['since']);
    });

    test('invalidations arrive in order, even if the feed of revocations is queried in between', async () => {
      const { one, other } = contract();
      await withEpoch();
      await using revocations = await one.revocations.feed();
      await eventually(() => revocations.latest());
      await using listener = await listening(one);
      await other.invalidations.add([someInvalidation('x')]);
      await revocations.latest();
      await listener.feed.latest(0);
      await other.invalidations.add([someInvalidation('y')]);
      expect(valuesOf(await listener.hear())).toEqual(['x', 'y']);
    });

    test('a feed continues after a position, with all later entries, whichever feed returned the position', async () => {
      const { one, other } = contract();
      await withEpoch();
      await one.invalidations.add([someInvalidation('before')]);
      let position: string;
      {
        await using listener = await listening(one);
        expect(listener.feed.position).not.toBe('');
        await one.invalidations.add([someInvalidation('heard')]);
        const [heard] = await listener.hear();
        position = listener.feed.position;
        expect(heard).toMatchObject({ value: 'heard', position });
      }
      await using same = await listening(other, position);
      expect(await same.hear()).toEqual([]);
      expect(same.feed.position).toBe(position);
      await one.invalidations.add([someInvalidation('a'), someInvalidation('b')]);
      await using late = await listening(other, position);
      expect(valuesOf(await late.hear())).toEqual(['a', 'b']);
      expect(valuesOf(await same.hear())).toEqual(['a', 'b']);
    });

    test('a feed at a position before 2,500 entries gets all of them', async () => {
      const { one, other } = contract();
      await withEpoch();
      await using before = await listening(one);
      const values = Array.from({ length: 2_500 }, (_, n) => `${n}`);
      for (let n = 0; n < values.length; n += 250) {
        const some = values.slice(n, n + 250);
        await one.invalidations.add(some.map((value) => someInvalidation(value)));
      }
      await using late = await listening(other, before.feed.position);
      expect(valuesOf(await late.hear())).toEqual(values);
      expect(valuesOf(await before.hear())).toEqual(values);
    });

    test.each([
      '',
      'x',
      ':',
      'epoch:',
      ':1',
      'another-epoch:1',
      'another-epoch:1-0',
      'e:1:1',
      'ä:-1',
    ])(
      'a feed after the invalid position %j calls lost, and continues at the end',
      async (from) => {
        const { one, other } = contract();
        await withEpoch();
        await one.invalidations.add([someInvalidation('before')]);
        await using listener = await listening(one, from);
        expect(await listener.hear()).toEqual(['lost']);
        await other.invalidations.add([someInvalidation('after')]);
        expect(valuesOf(await listener.hear())).toEqual(['after']);
      },
    );

    test('a feed whose start position was never written calls `lost`', async () => {
      const { one } = contract();
      const epoch = (await withEpoch()) ?? '';
      for (const entry of ['999999999', '9999999999999-0', '5-0']) {
        await using listener = await listening(one, `${epoch}:${entry}`);
        expect([entry, await listener.hear()]).toEqual([entry, ['lost']]);
      }
    });

    test('the last invalidations of a kind are listed, newest first', async () => {
      const { one, other } = contract();
      await withEpoch();
      const ban = (value: string) => someInvalidation(value, { kind: 'ban', soft: true });
      await one.invalidations.add([ban('1'), someInvalidation('x'), ban('2')]);
      await one.invalidations.add([ban('3'), someInvalidation('y', { kind: 'tree' })]);
      const listed = await other.invalidations.list('ban', 2);
      expect(listed).toMatchObject([ban('3'), ban('2')]);
      expect(await other.invalidations.list('tree', 1)).toMatchObject([{ value: 'y' }]);
      await using listener = await listening(one, listed[1]?.position);
      expect(valuesOf(await listener.hear())).toEqual(['3', 'y']);
    });

    test('adding no invalidation does nothing; one of more than 8 KiB is refused with all others of the call', async () => {
      const { one } = contract();
      await withEpoch();
      await using listener = await listening(one);
      await one.invalidations.add([]);
      const longest = 'ä'.repeat(LONGEST_INVALIDATION / 2);
      const adding = one.invalidations.add([
        someInvalidation('x'),
        someInvalidation(`${longest}x`),
      ]);
      await expect(adding).rejects.toThrow(RangeError);
      await one.invalidations.add([someInvalidation(longest)]);
      expect(valuesOf(await listener.hear())).toEqual([longest]);
    });

    test('the oldest invalidations are removed if there are too many octets: only a feed that lacks them calls lost', async () => {
      const { one, other } = contract();
      await withEpoch();
      await using ahead = await listening(one);
      await one.invalidations.add([someInvalidation('first')]);
      const { position: behind } = (await other.invalidations.list('target', 1))[0] ?? {};
      const longest = someInvalidation('x'.repeat(LONGEST_INVALIDATION));
      const most = MOST_INVALIDATION_OCTETS / LONGEST_INVALIDATION;
      let left = most + 10;
      for (; left > 0; left -= 256) {
        const some = Array.from({ length: Math.min(256, left) }, () => longest);
        await one.invalidations.add(some);
        expect(await ahead.hear()).not.toContain('lost');
      }
      expect(await other.invalidations.list('target', most + 10)).toHaveLength(most);
      await using late = await listening(other, behind);
      expect(await late.hear()).toEqual(['lost']);
      await one.invalidations.add([someInvalidation('last')]);
      expect(valuesOf(await ahead.hear())).toEqual(['last']);
    });

    test('if the store has lost its epoch, queries reject, and feeds call `lost` once there is an epoch', async () => {
      const { one, other, store } = contract();
      await withEpoch();
      await using running = await listening(one);
      await one.invalidations.add([someInvalidation('x')]);
      await running.hear();
      const { position } = running.feed;
      await store.forget();
      await eventually(() => expect(running.hear()).rejects.toThrow(StoreUnavailable));
      await using early = await listening(other, position);
      await expect(early.hear()).rejects.toThrow(StoreUnavailable);
      await using fresher = await listening(other);

      await one.revocations.epoch(true);
      await store.passSeconds(2);
      await eventually(async () => running.feed.latest(Infinity));
      expect(running.heard).toEqual(['lost']);
      await eventually(async () => early.feed.latest(Infinity));
      expect(early.heard).toEqual(['lost']);
      await eventually(async () => fresher.feed.latest(Infinity));
      expect(fresher.heard).toEqual([]);
      await other.invalidations.add([someInvalidation('y')]);
      for (const { hear } of [running, early, fresher]) {
        expect(valuesOf(await hear()).filter((each) => each !== 'lost')).toEqual(['y']);
      }
    });

    test('a feed that was disposed of rejects each query', async () => {
      const { one, store } = contract();
      await withEpoch();
      const { feed, hear } = await listening(one);
      await store.passSeconds(1);
      await hear();
      await feed[Symbol.asyncDispose]();
      await expect(hear()).rejects.toThrow(StoreUnavailable);
      await expect((async () => feed.latest(0))()).rejects.toThrow(StoreUnavailable);
    });
  });
}
