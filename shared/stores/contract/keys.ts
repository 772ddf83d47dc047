import { describe, expect, test } from '@jest/globals';
import type { Stores } from '../stores.ts';
import { fresh, someKey } from './samples.ts';
import type { Contract } from './store-under-test.ts';

export function keysContract(contract: () => Contract): void {
  describe('keys', () => {
    const empty = async (stores: Stores) => {
      for (const { kid } of await stores.keys.list()) await stores.keys.remove(kid);
    };

    test('RFC 7517 section 5: keys are listed with all their members', async () => {
      const { one, other } = contract();
      await empty(one);
      const [first, second] = [someKey(fresh(), 'ES256'), someKey(fresh(), 'RS256')];
      expect(await one.keys.add(first)).toBe(true);
      expect(await one.keys.add(second)).toBe(true);
      const listed = await other.keys.list();
      expect(listed).toHaveLength(2);
      expect(listed).toEqual(expect.arrayContaining([first, second]));
    });

    test('the first key of an alg is added once, further ones only when asked for', async () => {
      const { one, other } = contract();
      await empty(one);
      expect(await one.keys.add(someKey(fresh(), 'ES256'), 'ES256')).toBe(true);
      expect(await other.keys.add(someKey(fresh(), 'ES256'), 'ES256')).toBe(false);
      expect(await other.keys.add(someKey(fresh(), 'EdDSA'), 'EdDSA')).toBe(true);
      expect(await other.keys.add(someKey(fresh(), 'ES256'))).toBe(true);
      expect((await one.keys.list()).map((key) => key.alg).toSorted()).toEqual([
        'ES256',
        'ES256',
        'EdDSA',
      ]);
    });

    test('a kid that is taken is refused and the first key stays', async () => {
      const { one, other } = contract();
      await empty(one);
      const key = someKey(fresh(), 'ES256');
      expect(await one.keys.add(key)).toBe(true);
      expect(await other.keys.add({ ...key, sealed: 'another' })).toBe(false);
      expect(await one.keys.list()).toEqual([key]);
    });

    test('a removed key is gone, and its alg is free again', async () => {
      const { one, other } = contract();
      await empty(one);
      const key = someKey(fresh(), 'ES256');
      await one.keys.add(key);
      await other.keys.remove(key.kid);
      await other.keys.remove(key.kid);
      expect(await one.keys.list()).toEqual([]);
      expect(await one.keys.add(someKey(fresh(), 'ES256'), 'ES256')).toBe(true);
    });
  });
}
