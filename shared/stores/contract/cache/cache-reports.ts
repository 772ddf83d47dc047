import { describe, expect, test } from '@jest/globals';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function cacheReportsContract(contract: () => Contract): void {
  describe('reports of caches', () => {
    test('every connection finds the last report of each process', async () => {
      const { one, other } = contract();
      const [first, second] = [fresh(), fresh()];
      await one.cacheReports.put(first, '{"hits":1}');
      await other.cacheReports.put(second, '{"hits":"ä\u0000"}');
      await one.cacheReports.put(first, '{"hits":2}');
      for (const { cacheReports } of [one, other]) {
        const all = await cacheReports.all();
        expect(all.get(first)).toBe('{"hits":2}');
        expect(all.get(second)).toBe('{"hits":"ä\u0000"}');
      }
    });

    test('the report of a silent process is forgotten after a minute, and other reports stay', async () => {
      const { one, store } = contract();
      const [silent, alive] = [fresh(), fresh()];
      await one.cacheReports.put(silent, 'x');
      await one.cacheReports.put(alive, 'x');
      await store.passSeconds(40);
      await one.cacheReports.put(alive, 'y');
      expect([...(await one.cacheReports.all()).keys()]).toEqual(
        expect.arrayContaining([silent, alive]),
      );
      await store.passSeconds(40);
      const all = await one.cacheReports.all();
      expect(all.has(silent)).toBe(false);
      expect(all.get(alive)).toBe('y');
      await store.passSeconds(100);
      expect(await one.cacheReports.all()).toEqual(new Map());
    });
  });
}
