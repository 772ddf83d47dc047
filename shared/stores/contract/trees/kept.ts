import { describe, expect, test } from '@jest/globals';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function keptContract(contract: () => Contract): void {
  describe('kept values', () => {
    test('the owner gets a value back unchanged, under a new id of at least 128 bits each time', async () => {
      const { one, other } = contract();
      const owner = fresh();
      for (const value of ['$..[?@.price < 10]', '', 'ä\u0000😀"', 'x'.repeat(100_000)]) {
        const room = { seconds: 60, most: 10 };
        const id = await one.kept.put(owner, value, room);
        expect(Buffer.from(id, 'base64url').length).toBeGreaterThanOrEqual(16);
        expect(await one.kept.put(owner, value, room)).not.toBe(id);
        expect(await other.kept.get(owner, id)).toBe(value);
        expect(await one.kept.get(owner, id)).toBe(value);
      }
    });

    test('another owner does not get the value, and an unknown id returns no value', async () => {
      const { one } = contract();
      const owner = fresh();
      const id = await one.kept.put(owner, 'secret', { seconds: 60, most: 10 });
      for (const stranger of [fresh(), '', `${owner}:`, `${owner}:${id}`, `${owner}\u0000`]) {
        expect(await one.kept.get(stranger, id)).toBeUndefined();
      }
      for (const guess of [fresh(), '', '*', "' OR 1=1 --", '\u0000', 'x'.repeat(10_000)]) {
        expect(await one.kept.get(owner, guess)).toBeUndefined();
      }
    });

    test('moving characters from the owner to the id does not find the value', async () => {
      const { one } = contract();
      const owner = fresh();
      const id = await one.kept.put(`${owner}:x`, 'secret', { seconds: 60, most: 10 });
      expect(await one.kept.get(owner, `x:${id}`)).toBeUndefined();
    });

    test('only the newest values of an owner stay, up to the allowed number', async () => {
      const { one, other } = contract();
      const [owner, neighbour] = [fresh(), fresh()];
      const room = { seconds: 60, most: 3 };
      const kept = await one.kept.put(neighbour, 'neighbour', room);
      const ids: string[] = [];
      for (let n = 0; n < 6; n++) {
        ids.push(await (n % 2 === 0 ? one : other).kept.put(owner, `${n}`, room));
      }
      const left = await Promise.all(ids.map((id) => one.kept.get(owner, id)));
      expect(left).toEqual([undefined, undefined, undefined, '3', '4', '5']);
      await one.kept.put(owner, 'fewer', { seconds: 60, most: 1 });
      expect(await one.kept.get(owner, ids[5] ?? '')).toBeUndefined();
      expect(await one.kept.get(neighbour, kept)).toBe('neighbour');
    });

    test('if ten values are stored at once, exactly the allowed number stays', async () => {
      const { one, other } = contract();
      const owner = fresh();
      const ids = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).kept.put(owner, `${n}`, { seconds: 60, most: 4 }),
        ),
      );
      const left = await Promise.all(ids.map((id) => one.kept.get(owner, id)));
      expect(left.filter((value) => value !== undefined)).toHaveLength(4);
    });

    test('an expired value is not found, whether or not it was swept, and does not count against the allowed number', async () => {
      const { one, store } = contract();
      const owner = fresh();
      const long = await one.kept.put(owner, 'long', { seconds: 10_000, most: 2 });
      const short = await one.kept.put(owner, 'short', { seconds: 60, most: 2 });
      await store.passSeconds(30);
      expect(await one.kept.get(owner, short)).toBe('short');
      await store.passSeconds(60);
      expect(await one.kept.get(owner, short)).toBeUndefined();
      const last = await one.kept.put(owner, 'last', { seconds: 60, most: 2 });
      expect(await one.kept.get(owner, long)).toBe('long');
      expect(await one.kept.get(owner, last)).toBe('last');
      while ((await one.sweep()) > 0);
      expect(await one.kept.get(owner, long)).toBe('long');
    });
  });
}
