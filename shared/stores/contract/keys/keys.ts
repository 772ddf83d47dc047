import { describe, expect, test } from '@jest/globals';
import type { KeyTable } from '../../keys/keys.ts';
import type { Stores } from '../../stores.ts';
import { fresh, someKey } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** Each table of keys, with the other table. */
const TABLES = [
  ['keys', 'gatewayKeys'],
  ['gatewayKeys', 'keys'],
] as const satisfies readonly (readonly KeyTable[])[];

export function keysContract(contract: () => Contract): void {
  describe.each(TABLES)('%s', (table, another) => {
    const empty = async (stores: Stores, which: KeyTable = table) => {
      for (const { kid } of await stores[which].list()) await stores[which].remove(kid);
    };

    test('RFC 7517 section 5: keys are listed with all their members', async () => {
      const { one, other } = contract();
      await empty(one);
      const [first, second] = [someKey(fresh(), 'ES256'), someKey(fresh(), 'RS256')];
      expect(await one[table].add(first)).toBe(true);
      expect(await one[table].add(second)).toBe(true);
      const listed = await other[table].list();
      expect(listed).toHaveLength(2);
      expect(listed).toEqual(expect.arrayContaining([first, second]));
    });

    test('the first key of an alg is added once, and further keys only on request', async () => {
      const { one, other } = contract();
      await empty(one);
      expect(await one[table].add(someKey(fresh(), 'ES256'), 'ES256')).toBe(true);
      expect(await other[table].add(someKey(fresh(), 'ES256'), 'ES256')).toBe(false);
      expect(await other[table].add(someKey(fresh(), 'EdDSA'), 'EdDSA')).toBe(true);
      expect(await other[table].add(someKey(fresh(), 'ES256'))).toBe(true);
      expect((await one[table].list()).map((key) => key.alg).toSorted()).toEqual([
        'ES256',
        'ES256',
        'EdDSA',
      ]);
    });

    test('a key of one table is not listed or removed in the other, and does not block it', async () => {
      const { one, other } = contract();
      await empty(one);
      await empty(one, another);
      const [key, its] = [someKey(fresh(), 'ES256'), someKey(fresh(), 'ES256')];
      expect(await one[another].add(its, 'ES256')).toBe(true);
      expect(await one[table].add(key, 'ES256')).toBe(true);
      await other[table].remove(its.kid);
      expect(await other[table].list()).toEqual([key]);
      expect(await other[another].list()).toEqual([its]);
    });

    test('a taken kid is refused, and the first key stays', async () => {
      const { one, other } = contract();
      await empty(one);
      const key = someKey(fresh(), 'ES256');
      expect(await one[table].add(key)).toBe(true);
      expect(await other[table].add({ ...key, sealed: 'another' })).toBe(false);
      expect(await one[table].list()).toEqual([key]);
    });

    test('a removed key is gone, and its alg is free again', async () => {
      const { one, other } = contract();
      await empty(one);
      const key = someKey(fresh(), 'ES256');
      await one[table].add(key);
      await other[table].remove(key.kid);
      await other[table].remove(key.kid);
      expect(await one[table].list()).toEqual([]);
      expect(await one[table].add(someKey(fresh(), 'ES256'), 'ES256')).toBe(true);
    });
  });
}
