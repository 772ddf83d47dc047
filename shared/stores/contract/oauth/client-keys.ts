import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import { fresh, someClient } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

function newKey() {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = { ...publicKey.export({ format: 'jwk' }) };
  return { jwk, id: keptJwk(jwk)?.id ?? '' };
}

type Key = ReturnType<typeof newKey>;

const withKeys = (client_id: string, ...keys: readonly Pick<Key, 'jwk'>[]) => ({
  ...someClient(client_id),
  jwks: { keys: keys.map(({ jwk }) => jwk) },
});

export function clientKeysContract(contract: () => Contract): void {
  describe('clients by their keys (RFC 9729 section 8)', () => {
    test('a client is found by each of its keys, however a JWK is written, also if two clients have the same key', async () => {
      const { one, other } = contract();
      const [first, second, unused] = [newKey(), newKey(), newKey()];
      const [a, b, c] = [`${fresh()} a`, `${fresh()} b`, fresh()];
      const padded = { jwk: { ...first.jwk, x: `AAAA${first.jwk['x']}`, kid: '1', alg: 'ES256' } };
      await one.clients.add(withKeys(a, padded, second, { jwk: { kty: 'odd' } }));
      await one.clients.add({
        ...someClient(b),
        gnap: { key: { proof: 'httpsig', jwk: second.jwk } },
      });
      await one.clients.add({
        ...someClient(c),
        gnap: { key: { proof: 'mtls', 'cert#S256': second.id } },
      });
      expect(await other.clients.withKey(first.id)).toEqual([a]);
      expect(await other.clients.withKey(second.id)).toEqual([a, b].toSorted());
      for (const none of [unused.id, c, '', ' ', '*', first.id.slice(1), `${first.id} ${a}`]) {
        expect(await other.clients.withKey(none)).toEqual([]);
      }
    });

    test('a metadata document with the key of another client is not found by this key (draft-ietf-oauth-client-id-metadata-document section 4.1)', async () => {
      const { one, other } = contract();
      const key = newKey();
      const [url, own] = [`https://${fresh()}.example/client.json`, fresh()];
      const document = { fetched: 1, until: 2, changed: 1 };
      await one.clients.add({ ...withKeys(url, key), document });
      expect(await other.clients.withKey(key.id)).toEqual([]);
      await one.clients.add(withKeys(own, key));
      expect(await other.clients.withKey(key.id)).toEqual([own]);
      await one.clients.replace({
        ...withKeys(url, key),
        document: { ...document, registered: true },
      });
      expect(await other.clients.withKey(key.id)).toEqual([own]);
    });

    test('a change frees the removed keys, and a removal frees all keys', async () => {
      const { one, other } = contract();
      const [first, second, third] = [newKey(), newKey(), newKey()];
      const id = fresh();
      await one.clients.add(withKeys(id, first, second));
      const changed = withKeys(id, second, third);
      const found = async () =>
        Promise.all([first, second, third].map((key) => other.clients.withKey(key.id)));
      expect(await one.clients.replace(changed, withKeys(id, third))).toBe(false);
      expect(await one.clients.add(changed)).toBe(false);
      expect(await one.clients.remove(id, changed)).toBe(false);
      expect(await found()).toEqual([[id], [id], []]);
      expect(await other.clients.replace(changed)).toBe(true);
      expect(await found()).toEqual([[], [id], [id]]);
      expect(await other.clients.remove(id)).toBe(true);
      expect(await found()).toEqual([[], [], []]);
      await one.clients.add(withKeys(id, first));
      expect(await found()).toEqual([[id], [], []]);
      expect(await one.clients.replace(someClient(id))).toBe(true);
      expect(await found()).toEqual([[], [], []]);
    });

    test('ten changes of one client at once leave only the keys of the last change', async () => {
      const { one, other } = contract();
      const keys = Array.from({ length: 10 }, newKey);
      const id = fresh();
      await one.clients.add(withKeys(id, newKey()));
      await Promise.all(
        keys.map((key, n) => (n % 2 === 0 ? one : other).clients.replace(withKeys(id, key))),
      );
      const now = await one.clients.get(id);
      for (const key of keys) {
        const isThere = JSON.stringify(now?.jwks) === JSON.stringify({ keys: [key.jwk] });
        expect(await other.clients.withKey(key.id)).toEqual(isThere ? [id] : []);
      }
      const same = newKey();
      const ids = keys.map((_, n) => `${id}-${n}`);
      await Promise.all(
        ids.map((each, n) => (n % 2 === 0 ? one : other).clients.add(withKeys(each, same))),
      );
      expect(await one.clients.withKey(same.id)).toEqual(ids);
      await Promise.all(ids.map((each) => one.clients.remove(each)));
      expect(await other.clients.withKey(same.id)).toEqual([]);
    });
  });
}
