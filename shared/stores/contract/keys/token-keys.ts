import { describe, expect, test } from '@jest/globals';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import type { Stores } from '../../stores.ts';
import type { StoredTokenKey } from '../../keys/token-keys.ts';
import { removeTokenKeys, someTokenKey } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function tokenKeysContract(contract: () => Contract): void {
  describe('token keys', () => {
    const empty = async (): Promise<Stores> => {
      const { one } = contract();
      await removeTokenKeys(one);
      return one;
    };

    /** Adds keys one after the other. */
    const added = async (stores: Stores, ...keys: readonly StoredTokenKey[]) => {
      const newest = new Map<TokenType, string>();
      for (const key of keys) {
        expect(await stores.tokenKeys.add(key, newest.get(key.type))).toBe('added');
        newest.set(key.type, key.id);
      }
    };

    test('token keys are listed with all their members, in the order in which they were added', async () => {
      const stores = await empty();
      const keys = [
        someTokenKey(VOPRF, 1, { notBefore: 1_900_000_000_000 }),
        someTokenKey(BLIND_RSA, 1),
        someTokenKey(VOPRF, 0, { notBefore: 1_700_000_000_000 }),
        someTokenKey(BLIND_RSA, 255),
      ];
      await added(stores, ...keys);
      expect(await contract().other.tokenKeys.list()).toEqual(keys);
    });

    test('RFC 9578 section 5.1: no two keys of a type have the same truncated id', async () => {
      const stores = await empty();
      const [first, same] = [someTokenKey(VOPRF, 7), someTokenKey(VOPRF, 7)];
      await added(stores, first);
      expect(same.id).not.toBe(first.id);
      expect(await stores.tokenKeys.add(same, first.id)).toBe('collides');
      expect(await stores.tokenKeys.add(first, first.id)).toBe('collides');
      expect(await stores.tokenKeys.list()).toEqual([first]);
      expect(await stores.tokenKeys.add(someTokenKey(BLIND_RSA, 7), undefined)).toBe('added');
      expect(await stores.tokenKeys.add(someTokenKey(VOPRF, 8), first.id)).toBe('added');
    });

    test('RFC 9578 section 5.1: the truncated id of a retired key is taken, that of a removed one is free', async () => {
      const stores = await empty();
      const [old, recent] = [someTokenKey(BLIND_RSA, 7), someTokenKey(BLIND_RSA, 8)];
      await added(stores, old, recent);
      await stores.tokenKeys.retire(BLIND_RSA, old.id);
      const next = someTokenKey(BLIND_RSA, 7);
      expect(await contract().other.tokenKeys.add(next, recent.id)).toBe('collides');
      await stores.tokenKeys.remove(BLIND_RSA, old.id);
      expect(await contract().other.tokenKeys.add(next, recent.id)).toBe('added');
      expect(await stores.tokenKeys.list()).toEqual([recent, next]);
    });

    test.each([0, 1, 63, 64, 127, 128, 254, 255])(
      'the truncated id %d is the last octet of the id, whatever the other octets are',
      async (truncated) => {
        const stores = await empty();
        const first = someTokenKey(VOPRF, truncated);
        await added(stores, first);
        for (const near of [truncated ^ 1, truncated ^ 0x10, truncated ^ 0x80]) {
          const newest = (await stores.tokenKeys.list()).at(-1)?.id;
          expect(await stores.tokenKeys.add(someTokenKey(VOPRF, near), newest)).toBe('added');
        }
        const newest = (await stores.tokenKeys.list()).at(-1)?.id;
        const again = someTokenKey(VOPRF, truncated);
        expect(await stores.tokenKeys.add(again, newest)).toBe('collides');
      },
    );

    test('256 keys of a type can be added, and the next key collides', async () => {
      const stores = await empty();
      await added(stores, ...Array.from({ length: 256 }, (_, n) => someTokenKey(VOPRF, n)));
      const rows = await stores.tokenKeys.list();
      expect(rows).toHaveLength(256);
      const newest = rows.at(-1)?.id;
      for (const truncated of [0, 100, 255]) {
        const key = someTokenKey(VOPRF, truncated);
        expect(await stores.tokenKeys.add(key, newest)).toBe('collides');
      }
    });

    test('if ten processes make the first key of a type at once, one is added', async () => {
      const { one, other } = contract();
      await empty();
      for (const type of [VOPRF, BLIND_RSA] as const) {
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            (n % 2 === 0 ? one : other).tokenKeys.add(someTokenKey(type, n), undefined),
          ),
        );
        expect(outcomes.toSorted()).toEqual(['added', ...Array<string>(9).fill('late')]);
      }
      expect(await one.tokenKeys.list()).toHaveLength(2);
    });

    test('if ten processes add the next key of a type at once, one is added, whatever the truncated ids', async () => {
      const { one, other } = contract();
      await empty();
      const first = someTokenKey(VOPRF, 200);
      await added(one, first);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).tokenKeys.add(someTokenKey(VOPRF, n), first.id),
        ),
      );
      expect(outcomes.toSorted()).toEqual(['added', ...Array<string>(9).fill('late')]);
      const successor = (await one.tokenKeys.list()).at(-1);
      const colliding = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).tokenKeys.add(someTokenKey(VOPRF, 200), successor?.id),
        ),
      );
      expect(new Set(colliding)).toEqual(new Set(['collides']));
      expect(await one.tokenKeys.list()).toEqual([first, successor]);
    });

    test('adding is `late` if the caller names another key as the newest: an older key, a key of the other type, or a removed key', async () => {
      const stores = await empty();
      const keys = [1, 2, 3].map((truncated) => someTokenKey(VOPRF, truncated));
      const rsa = someTokenKey(BLIND_RSA, 9);
      const gone = someTokenKey(VOPRF, 4);
      await added(stores, ...keys, rsa);
      const outdated = [undefined, keys[0]?.id, keys[1]?.id, rsa.id, gone.id, gone.id.slice(1), ''];
      for (const newest of outdated) {
        expect(await stores.tokenKeys.add(someTokenKey(VOPRF, 5), newest)).toBe('late');
        expect(await stores.tokenKeys.add(someTokenKey(VOPRF, 1), newest)).toBe('late');
      }
      expect(await stores.tokenKeys.list()).toEqual([...keys, rsa]);
    });

    test('the newest key is the key that was added last, whatever its epoch and start', async () => {
      const stores = await empty();
      const [old, pending] = [
        someTokenKey(VOPRF, 1, { epoch: 'lost' }),
        someTokenKey(VOPRF, 2, { epoch: 'lost', notBefore: 1_900_000_000_000 }),
      ];
      await added(stores, old, pending);
      const [fresh, successor] = [
        someTokenKey(VOPRF, 3, { notBefore: 1_850_000_000_000 }),
        someTokenKey(VOPRF, 4, { notBefore: 1_860_000_000_000 }),
      ];
      expect(await stores.tokenKeys.add(fresh, undefined)).toBe('late');
      expect(await stores.tokenKeys.add(fresh, pending.id)).toBe('added');
      await stores.tokenKeys.retire(VOPRF, pending.id);
      expect(await stores.tokenKeys.add(successor, pending.id)).toBe('late');
      expect(await stores.tokenKeys.add(successor, fresh.id)).toBe('added');
      expect((await stores.tokenKeys.list()).map(({ id }) => id)).toEqual(
        [old, pending, fresh, successor].map(({ id }) => id),
      );
    });

    test('retiring a key, once or often, removes only the private part of this key', async () => {
      const { other } = contract();
      const stores = await empty();
      const [retired, kept] = [someTokenKey(VOPRF, 1), someTokenKey(VOPRF, 2)];
      const sameId = { ...someTokenKey(BLIND_RSA, 1), id: retired.id };
      await added(stores, retired, kept, sameId);
      const { sealed, ...rest } = retired;
      expect(sealed).toBeDefined();
      await Promise.all([
        stores.tokenKeys.retire(VOPRF, retired.id),
        other.tokenKeys.retire(VOPRF, retired.id),
      ]);
      await other.tokenKeys.retire(VOPRF, retired.id);
      expect(await other.tokenKeys.list()).toEqual([rest, kept, sameId]);
    });

    test('removing a key, once or often, removes only its row, even if it is retired at the same time', async () => {
      const { other } = contract();
      const stores = await empty();
      const [removed, kept] = [someTokenKey(VOPRF, 1), someTokenKey(VOPRF, 2)];
      const sameId = { ...someTokenKey(BLIND_RSA, 1), id: removed.id };
      await added(stores, removed, kept, sameId);
      await Promise.all([
        stores.tokenKeys.remove(VOPRF, removed.id),
        other.tokenKeys.retire(VOPRF, removed.id),
        other.tokenKeys.remove(VOPRF, removed.id),
      ]);
      await stores.tokenKeys.remove(VOPRF, removed.id);
      expect(await other.tokenKeys.list()).toEqual([kept, sameId]);
    });

    test('after the removal of the newest key the previous key is the newest', async () => {
      const stores = await empty();
      const [first, second] = [someTokenKey(VOPRF, 1), someTokenKey(VOPRF, 2)];
      await added(stores, first, second);
      await stores.tokenKeys.remove(VOPRF, second.id);
      expect(await stores.tokenKeys.add(someTokenKey(VOPRF, 3), second.id)).toBe('late');
      expect(await stores.tokenKeys.add(someTokenKey(VOPRF, 3), first.id)).toBe('added');
    });

    test('ten recalls of token keys at once raise the number of recalls by ten, and change no key', async () => {
      const { one, other } = contract();
      const stores = await empty();
      const key = someTokenKey(VOPRF, 1);
      await added(stores, key);
      const before = await one.tokenKeys.recalls();
      await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? one : other).tokenKeys.recall()),
      );
      expect(await one.tokenKeys.recalls()).toBe(before + 10);
      expect(await other.tokenKeys.recalls()).toBe(before + 10);
      expect(await stores.tokenKeys.list()).toEqual([key]);
    });

    test('retiring and removing an absent key is no error', async () => {
      const stores = await empty();
      const [there, absent] = [someTokenKey(VOPRF, 1), someTokenKey(VOPRF, 1)];
      await added(stores, there);
      for (const [type, id] of [
        [VOPRF, absent.id],
        [BLIND_RSA, there.id],
        [VOPRF, "' OR 1=1 --"],
        [VOPRF, ''],
      ] as const) {
        await stores.tokenKeys.retire(type, id);
        await stores.tokenKeys.remove(type, id);
      }
      expect(await stores.tokenKeys.list()).toEqual([there]);
    });
  });
}
