import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import type { ApiKeyRecord } from '../../credentials/api-keys.ts';
import { fresh, someApiKey } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

export function apiKeysContract(contract: () => Contract): void {
  describe('API keys', () => {
    const added = async (changes: Partial<ApiKeyRecord> = {}) => {
      const key = { ...someApiKey(fresh()), ...changes };
      expect(await contract().one.apiKeys.add(key)).toBe(true);
      return key;
    };

    test('a key is kept with all its members, also empty ones', async () => {
      const { other } = contract();
      for (const key of [
        await added({ expires_at: NOW + 1, used_at: NOW, demo: true }),
        await added({ scopes: [] }),
      ]) {
        expect(await other.apiKeys.get(key.id)).toEqual(key);
        expect(await other.apiKeys.list()).toContainEqual(key);
      }
    });

    test('pages are sorted by application, age and id, and begin after a key that may be gone', async () => {
      const { one, other } = contract();
      const application = `\u00e9 ${fresh()} "'`;
      const [first, second, third] = [
        await added({ application, created_at: NOW - 1 }),
        await added({ application, created_at: NOW, id: `a${fresh()}` }),
        await added({ application, created_at: NOW, id: `b${fresh()}` }),
      ];
      const last = await added({ application: `${application}x`, created_at: 5 });
      const before = { application, created_at: 0, id: '' };
      const page = (after: Parameters<typeof one.apiKeys.page>[0]['after'], limit: number) =>
        other.apiKeys.page({ after, limit });
      expect(await page(before, 4)).toEqual([first, second, third, last]);
      expect(await page(before, 2)).toEqual([first, second]);
      await one.apiKeys.expire(second.id, NOW + MINUTE);
      await one.apiKeys.remove(second.id);
      expect(await page(second, 2)).toEqual([third, last]);
      expect((await page(last, 100)).some(({ id }) => id === last.id)).toBe(false);
      expect(await page(undefined, 1)).toHaveLength(1);
      expect(await page({ ...before, application: '\u{10FFFF}' }, 9)).toEqual([]);
    });

    test('a taken id is refused, and the first key stays', async () => {
      const { one, other } = contract();
      const key = await added();
      expect(await other.apiKeys.add({ ...key, secret_hash: 'of an impostor' })).toBe(false);
      expect(await one.apiKeys.get(key.id)).toEqual(key);
    });

    test('ids are compared exactly, with their case and their whole length', async () => {
      const { one } = contract();
      const key = await added({ id: `${fresh()}Ab` });
      for (const near of [key.id.toLowerCase(), key.id.slice(0, -1), `${key.id} `, `${key.id}%`]) {
        expect(await one.apiKeys.get(near)).toBeUndefined();
        expect(await one.apiKeys.remove(near)).toBe(false);
      }
      expect(await one.apiKeys.get(key.id)).toEqual(key);
    });

    test('an unknown id, however odd, is absent: not found, ended, noted or removed', async () => {
      const { one } = contract();
      const before = await one.apiKeys.list();
      for (const id of ['', '*', '__proto__', "' OR 1=1 --", '\u0000', 'x'.repeat(10_000)]) {
        expect(await one.apiKeys.get(id)).toBeUndefined();
        expect(await one.apiKeys.expire(id, NOW)).toBe(false);
        await expect(one.apiKeys.touch(id, NOW)).resolves.toBeUndefined();
        expect(await one.apiKeys.remove(id)).toBe(false);
        expect(await one.apiKeys.get(id)).toBeUndefined();
      }
      expect(await one.apiKeys.list()).toEqual(before);
    });

    test('any record is returned unchanged, also after a change', async () => {
      const { one, other } = contract();
      const text = anyText({ maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(text, text, fc.array(text), async (tail, application, scopes) => {
          const key = await added({ id: fresh() + tail, application, scopes });
          expect(await other.apiKeys.get(key.id)).toEqual(key);
          await other.apiKeys.touch(key.id, NOW);
          expect(await other.apiKeys.expire(key.id, NOW)).toBe(true);
          const changed = { ...key, used_at: NOW, expires_at: NOW, planned: {} };
          expect(await one.apiKeys.get(key.id)).toEqual(changed);
          const after = { application, created_at: key.created_at, id: '' };
          expect(await one.apiKeys.page({ after, limit: 1000 })).toContainEqual(changed);
        }),
        { numRuns: 30 },
      );
    });

    test('the keys of an application are listed together, the oldest first', async () => {
      const { one, other } = contract();
      const base = fresh();
      const made = [
        ['b', 2],
        ['a', 3],
        ['c', 1],
        ['a', 1],
        ['b', 4],
        ['a', 20],
      ] as const;
      for (const [application, created_at] of made) {
        await added({ application: base + application, created_at });
      }
      const listed = (await other.apiKeys.list()).filter((key) => key.application.startsWith(base));
      expect(listed.map((key) => [key.application.slice(base.length), key.created_at])).toEqual([
        ['a', 1],
        ['a', 3],
        ['a', 20],
        ['b', 2],
        ['b', 4],
        ['c', 1],
      ]);
      for (const key of listed) await one.apiKeys.remove(key.id);
    });

    test('a second end of a key makes it end earlier, never later', async () => {
      const { one, other } = contract();
      const key = await added();
      const ends: (number | undefined)[] = [];
      for (const at of [NOW + 50, NOW + 90, NOW + 20, NOW + 20, NOW + 50, 0]) {
        expect(await one.apiKeys.expire(key.id, at)).toBe(true);
        ends.push((await other.apiKeys.get(key.id))?.expires_at);
      }
      expect(ends).toEqual([NOW + 50, NOW + 50, NOW + 20, NOW + 20, NOW + 20, 0]);
      expect(await one.apiKeys.get(key.id)).toEqual({ ...key, expires_at: 0, planned: {} });
      const ending = await added({ expires_at: NOW + 70 });
      for (const at of [NOW + 80, NOW + 60, NOW + 50]) await one.apiKeys.expire(ending.id, at);
      const ended = { ...ending, expires_at: NOW + 50, planned: { at: NOW + 70 } };
      expect(await other.apiKeys.get(ending.id)).toEqual(ended);
    });

    test('a key is replaced in one step, also by one of another application, unless it was changed meanwhile', async () => {
      const { one, other } = contract();
      const application = `first ${fresh()}`;
      const key = await added({ application });
      const next = { ...key, application: `second ${application}`, scopes: ['another'] };
      expect(await other.apiKeys.replace(next, key)).toBe(true);
      expect(await one.apiKeys.get(key.id)).toEqual(next);
      const pageOf = async (name: string) => {
        const after = { application: name, created_at: 0, id: '' };
        const page = await one.apiKeys.page({ after, limit: 1 });
        return page.filter(({ application: found }) => found === name);
      };
      expect(await pageOf(application)).toEqual([]);
      expect(await pageOf(next.application)).toEqual([next]);
      expect(await one.apiKeys.replace(key, key)).toBe(false);
      await one.apiKeys.touch(key.id, NOW);
      expect(await other.apiKeys.replace(key, next)).toBe(false);
      await one.apiKeys.remove(key.id);
      expect(await other.apiKeys.replace(key, { ...next, used_at: NOW })).toBe(false);
      expect(await one.apiKeys.get(key.id)).toBeUndefined();
    });

    test('if a key is ended many times at once, the earliest end counts', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 10; round++) {
        const { id } = await added();
        const ends = [70, 20, 50, 10, 90, 30].map((end, n) =>
          (n % 2 === 0 ? one : other).apiKeys.expire(id, NOW + end),
        );
        expect(await Promise.all(ends)).toEqual(ends.map(() => true));
        expect((await one.apiKeys.get(id))?.expires_at).toBe(NOW + 10);
      }
    });

    test('the last use is noted to the minute, and never moves backwards', async () => {
      const { one, other } = contract();
      const key = await added();
      const noted: (number | undefined)[] = [];
      const uses = [0, MINUTE - 1, MINUTE, 5, 10 * MINUTE, 9 * MINUTE, -MINUTE, 11 * MINUTE];
      for (const use of uses) {
        await other.apiKeys.touch(key.id, NOW + use);
        noted.push((await one.apiKeys.get(key.id))?.used_at);
      }
      expect(noted).toEqual(
        [0, 0, MINUTE, MINUTE, 10 * MINUTE, 10 * MINUTE, 10 * MINUTE, 11 * MINUTE].map(
          (use) => NOW + use,
        ),
      );
      expect(await one.apiKeys.get(key.id)).toEqual({ ...key, used_at: NOW + 11 * MINUTE });
    });

    test('a removed key is gone, and neither a use nor an end brings it back', async () => {
      const { one, other } = contract();
      const key = await added();
      expect(await other.apiKeys.remove(key.id)).toBe(true);
      await one.apiKeys.touch(key.id, NOW);
      expect(await one.apiKeys.expire(key.id, NOW)).toBe(false);
      expect(await one.apiKeys.get(key.id)).toBeUndefined();
      expect(await one.apiKeys.list()).not.toContainEqual(expect.objectContaining({ id: key.id }));
      expect(await one.apiKeys.remove(key.id)).toBe(false);
    });

    test('a key that is used, ended and removed at once stays removed', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 20; round++) {
        const { id } = await added();
        const uses = Array.from({ length: 10 }, (_, n) => NOW + n * MINUTE);
        await Promise.all([
          ...uses.slice(0, 5).map((at) => one.apiKeys.touch(id, at)),
          other.apiKeys.remove(id),
          one.apiKeys.expire(id, NOW),
          ...uses.slice(5).map((at) => other.apiKeys.touch(id, at)),
        ]);
        expect(await one.apiKeys.get(id)).toBeUndefined();
      }
    });

    test('a use and an end at once are both kept', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 20; round++) {
        const key = await added();
        await Promise.all([one.apiKeys.touch(key.id, NOW), other.apiKeys.expire(key.id, NOW + 1)]);
        expect(await one.apiKeys.get(key.id)).toEqual({
          ...key,
          expires_at: NOW + 1,
          planned: {},
          used_at: NOW,
        });
      }
    });

    test('if a key is used many times at once, the latest use counts', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 10; round++) {
        const { id } = await added();
        await Promise.all(
          [3, 9, 2, 5, 0, 4].map((use, n) =>
            (n % 2 === 0 ? one : other).apiKeys.touch(id, NOW + use * MINUTE),
          ),
        );
        expect((await one.apiKeys.get(id))?.used_at).toBe(NOW + 9 * MINUTE);
      }
    });

    test('a key that has ended stays until it is removed', async () => {
      const { one, store } = contract();
      const key = await added({ expires_at: store.clock.now() });
      await store.passSeconds(3650 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.apiKeys.get(key.id)).toEqual(key);
    });
  });
}
