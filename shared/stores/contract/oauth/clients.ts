import { describe, expect, test } from '@jest/globals';
import type { NameRange } from '#shared/base/name-range.ts';
import { startKeysFor } from '../../oauth/client-keys.ts';
import { fresh, someClient } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function clientsContract(contract: () => Contract): void {
  describe('clients', () => {
    test('RFC 7591 section 2: a client is kept with all its members', async () => {
      const { one, other } = contract();
      const client = {
        ...someClient(fresh()),
        token_endpoint_auth_method: 'private_key_jwt' as const,
        jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] },
        resources: ['https://api.example/'],
        redirect_uris: ['https://app.example/cb'],
        introspects: ['https://api.example/', 'https://files.example/'],
        id_token_signed_response_alg: 'RS256' as const,
        pkce: 'nonce' as const,
        profile: 'fapi2' as const,
        former_secret: { hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg', from: 1, until: 2 },
        demo: true,
      };
      expect(await one.clients.add(client)).toBe(true);
      expect(await other.clients.get(client.client_id)).toEqual(client);
      expect(await other.clients.list()).toContainEqual(client);
    });

    test('a taken client_id is refused, and the first client stays', async () => {
      const { one, other } = contract();
      const client = someClient(fresh());
      await one.clients.add(client);
      expect(await other.clients.add({ ...client, client_name: 'Impostor' })).toBe(false);
      expect(await one.clients.get(client.client_id)).toEqual(client);
    });

    test('a client is found by the beginning of each word of its name, until the name changes', async () => {
      const { one, other } = contract();
      const [word, next] = [fresh(), fresh()].map((text) => text.replaceAll(/[^a-z0-9]/gi, ''));
      const client = { ...someClient(fresh()), client_name: `Nightly ${word} ${word}x (IT)` };
      await one.clients.add(client);
      const found = (start = '') => other.clients.searchBeginning(`word:${start.toLowerCase()}`);
      expect(await found(word)).toEqual([client]);
      expect(await found(word?.slice(0, -1))).toEqual([client]);
      expect(await found(`${word}y`)).toEqual([]);
      const renamed = { ...client, client_name: `Nightly ${next}` };
      await other.clients.replace(renamed);
      expect([await found(word), await found(next)]).toEqual([[], [renamed]]);
      await one.clients.remove(client.client_id);
      expect(await found(next)).toEqual([]);
    });

    test('clients with a start URL are found by their key, until the URL or the client is gone', async () => {
      const { one, other } = contract();
      const client = { ...someClient(fresh()), start_url: 'https://app.example/' };
      const document = { fetched: 1, until: 2, changed: 1 };
      const described = { ...client, client_id: `https://${fresh()}.example/c`, document };
      await one.clients.add(client);
      await one.clients.add(described);
      await one.clients.add(someClient(fresh()));
      const [everybody = ''] = startKeysFor('alice');
      const found = () => other.clients.searchBeginning(everybody);
      expect(await found()).toEqual([client]);
      const { start_url: _, ...without } = client;
      await other.clients.replace(without);
      expect(await found()).toEqual([]);
      await other.clients.replace(client);
      expect(await found()).toEqual([client]);
      await one.clients.remove(client.client_id);
      expect(await found()).toEqual([]);
    });

    test('clients with a start URL are found by the groups and the people that they are for', async () => {
      const { one, other } = contract();
      const [group, name, id] = [fresh(), fresh(), fresh()];
      const start_url = 'https://app.example/';
      const client = { ...someClient(id), start_url, allow_groups: [group], allow_people: [name] };
      await one.clients.add(client);
      const found = async (...who: Parameters<typeof startKeysFor>) => {
        const keys = startKeysFor(...who);
        const all = await Promise.all(keys.map((key) => other.clients.searchBeginning(key)));
        return all.flat().filter(({ client_id }) => client_id === id);
      };
      expect(await found(fresh(), [group])).toEqual([client]);
      expect(await found(name)).toEqual([client]);
      expect(await found(group, [name, group.slice(0, -1), `${group}x`])).toEqual([]);
      const { allow_groups: _, allow_people: __, ...open } = client;
      await other.clients.replace(open);
      expect(await found(fresh())).toEqual([open]);
      await other.clients.remove(id);
    });

    test('only an existing client is replaced', async () => {
      const { one, other } = contract();
      const client = someClient(fresh());
      expect(await one.clients.replace(client)).toBe(false);
      expect(await one.clients.get(client.client_id)).toBeUndefined();
      await one.clients.add(client);
      expect(await one.clients.replace({ ...client, scope: 'less' })).toBe(true);
      expect(await other.clients.get(client.client_id)).toEqual({ ...client, scope: 'less' });
    });

    test('a client that was changed since is not replaced', async () => {
      const { one, other } = contract();
      const client = someClient(fresh());
      await one.clients.add(client);
      const seen = (await other.clients.get(client.client_id)) ?? client;
      expect(await one.clients.replace({ ...seen, scope: 'less' }, seen)).toBe(true);
      expect(await other.clients.replace({ ...seen, client_name: 'Late' }, seen)).toBe(false);
      expect(await other.clients.replace(seen, { ...seen, scope: 'les' })).toBe(false);
      const now = { ...seen, scope: 'less' };
      expect(await other.clients.get(client.client_id)).toEqual(now);
      expect(await other.clients.replace(seen, now)).toBe(true);
      await one.clients.remove(client.client_id);
      expect(await other.clients.replace(now, seen)).toBe(false);
      expect(await one.clients.get(client.client_id)).toBeUndefined();
    });

    test('a removed client is gone and cannot be removed or replaced again', async () => {
      const { one, other } = contract();
      const client = someClient(fresh());
      await one.clients.add(client);
      expect(await other.clients.remove(client.client_id)).toBe(true);
      expect(await one.clients.get(client.client_id)).toBeUndefined();
      expect(await one.clients.list()).not.toContainEqual(client);
      expect(await one.clients.remove(client.client_id)).toBe(false);
      expect(await one.clients.replace(client)).toBe(false);
      expect(await one.clients.add(client)).toBe(true);
    });

    test('a client that was changed since is not removed', async () => {
      const { one, other } = contract();
      const client = someClient(fresh());
      await one.clients.add(client);
      const seen = (await other.clients.get(client.client_id)) ?? client;
      const now = { ...seen, scope: 'less' };
      await one.clients.replace(now);
      expect(await other.clients.remove(client.client_id, seen)).toBe(false);
      expect(await one.clients.get(client.client_id)).toEqual(now);
      const removed = [one, other, one].map(({ clients }) => clients.remove(client.client_id, now));
      expect((await Promise.all(removed)).filter(Boolean)).toHaveLength(1);
      expect(await one.clients.get(client.client_id)).toBeUndefined();
      expect(await one.clients.page({ prefix: client.client_id, limit: 1 })).toEqual([]);
      expect(await one.clients.remove(client.client_id, now)).toBe(false);
    });

    test('pages are in the order of the octets of the client_id, and begin at the requested position', async () => {
      const { one, other } = contract();
      const prefix = `${fresh()}-`;
      const ids = ['B', 'a', 'b', 'bb', '~', 'é', '\u{1F600}'].map((tail) => prefix + tail);
      for (const id of ids.toReversed()) await one.clients.add(someClient(id));
      const page = async (range: Omit<NameRange, 'prefix'>) =>
        (await other.clients.page({ prefix, ...range })).map(({ client_id }) => client_id);
      expect(await page({ limit: 100 })).toEqual(ids);
      expect(await page({ limit: 3 })).toEqual(ids.slice(0, 3));
      expect(await page({ limit: 3, after: ids[2] })).toEqual(ids.slice(3, 6));
      expect(await page({ limit: 3, after: ids.at(-1) })).toEqual([]);
      expect(await page({ limit: 1, after: '' })).toEqual(ids.slice(0, 1));
      expect(await page({ limit: 1, after: '\u{10FFFF}' })).toEqual([]);
      await one.clients.remove(`${prefix}a`);
      expect(await page({ limit: 2 })).toEqual([`${prefix}B`, `${prefix}b`]);
      const [first] = await other.clients.page({ after: `${prefix}b`, limit: 1 });
      expect(first?.client_id).toBe(`${prefix}bb`);
    });

    test('an unknown client_id, however odd, is absent', async () => {
      const { one } = contract();
      for (const id of ['', '*', '__proto__', "' OR 1=1 --", '\u0000', 'x'.repeat(10_000)]) {
        expect(await one.clients.get(id)).toBeUndefined();
      }
    });

    test('clients do not expire', async () => {
      const { one, store } = contract();
      const client = someClient(fresh());
      await one.clients.add(client);
      await store.passSeconds(3650 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.clients.get(client.client_id)).toEqual(client);
    });
  });
}
