import { describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { eventually } from '../eventually.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const HOUR = 3_600_000;

/** `RevocationView.generation`: with it a process notices that cached facts about a person are outdated. */
export function generationsContract(contract: () => Contract): void {
  const until = () => contract().store.clock.now() + HOUR;

  describe('the generation of a person in the view', () => {
    test('the generation is the highest acknowledged one, and 0 for all other people', async () => {
      const { one, other } = contract();
      await one.revocations.epoch(true);
      await using feed = await other.revocations.feed();
      await eventually(() => feed.current());
      const [sub, client] = [fresh(), fresh()];
      const generation = async (id: string) => (await feed.latest()).generation(id);
      expect(await generation(sub)).toBe(0);
      await one.revocations.raise('client', client, until());
      for (const expected of [1, 2, 3]) {
        await one.revocations.raise('person', sub, until());
        expect(await generation(sub)).toBe(expected);
      }
      for (const id of [client, fresh(), '', '__proto__', 'constructor']) {
        expect(await generation(id)).toBe(0);
      }
      await using late = await one.revocations.feed();
      await eventually(() => expect(late.current().generation(sub)).toBe(3));
    });

    test('the generation is forgotten when no valid token can be older, and is known again after the next revocation', async () => {
      const { one, other, store } = contract();
      await one.revocations.epoch(true);
      await using feed = await other.revocations.feed();
      await eventually(() => feed.current());
      const sub = fresh();
      await one.revocations.raise('person', sub, until());
      await store.passSeconds(1_800);
      expect((await feed.latest()).generation(sub)).toBe(1);
      await store.passSeconds(3 * 3_600);
      await eventually(() => expect(feed.current().generation(sub)).toBe(0));
      expect(await one.revocations.raise('person', sub, until())).toBe(2);
      expect((await feed.latest()).generation(sub)).toBe(2);
    });

    test('the generation is 0 for all people in a new epoch', async () => {
      const { one, other, store } = contract();
      await one.revocations.epoch(true);
      await using feed = await other.revocations.feed();
      await eventually(() => feed.current());
      const sub = fresh();
      await one.revocations.raise('person', sub, until());
      await one.revocations.raise('person', sub, until());
      expect((await feed.latest()).generation(sub)).toBe(2);
      await store.forget();
      await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
      const epoch = await one.revocations.epoch(true);
      await store.passSeconds(2);
      await eventually(() => expect(feed.current().epoch).toBe(epoch));
      expect((await feed.latest()).generation(sub)).toBe(0);
      await one.revocations.raise('person', sub, until());
      expect((await feed.latest()).generation(sub)).toBe(1);
    });

    test('every feed lists only people who were revoked since a given time', async () => {
      const { one, other } = contract();
      await one.revocations.epoch(true);
      await using feed = await other.revocations.feed();
      const [before, after] = [fresh(), fresh()];
      await one.revocations.raise('person', before, until());
      const { raises } = await eventually(() => feed.latest());
      await one.revocations.raise('client', after, until());
      expect((await feed.latest()).raisedSince(after, raises)).toBe(false);
      await one.revocations.raise('person', after, until());
      const view = await feed.latest();
      expect(view.raisedSince(after, raises)).toBe(true);
      expect(view.raisedSince(after, view.raises)).toBe(false);
      for (const id of [before, fresh(), '__proto__']) {
        expect(view.raisedSince(id, raises)).toBe(false);
      }
      await using late = await one.revocations.feed();
      const { raises: read } = await eventually(() => late.latest());
      expect((await late.latest()).raisedSince(before, read)).toBe(false);
      await one.revocations.raise('person', before, until());
      expect((await late.latest()).raisedSince(before, read)).toBe(true);
    });
  });
}
