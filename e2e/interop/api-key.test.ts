import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { ONE_STORE } from '../flows/flow.ts';
import { curl } from './programs.ts';
import { ALICE, identity, startSite } from './site.ts';
import type { Site } from './site.ts';

/** API keys sent by third-party clients. */
const SPACES = {
  keys: { schemes: ['API-Key'] },
  others: { schemes: ['API-Key'] },
  renamed: { schemes: ['API-Key'], apiKey: { field: 'Ocp-Key', query: 'key' } },
  few: { schemes: ['API-Key'], apiKey: { limit: { burst: 2, per: 1 } } },
  scoped: { schemes: ['API-Key'], scopes: { safe: ['read'], unsafe: ['write'] } },
  'with-digest': { schemes: ['Digest', 'API-Key'] },
  beside: { schemes: ['Digest', 'Basic'], apiKey: { beside: true, limit: { burst: 50, per: 60 } } },
};

const KEY = 'x-api-key';
const USER = ['--user', `${ALICE.name}:${ALICE.password}`];
const WRONG_USER = ['--user', `${ALICE.name}:wrong`];

interface Key {
  readonly id: string;
  readonly key: string;
}

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: Site;
  const keys = new Map<string, Key>();

  const add = async (realm: string) => {
    const args = ['--application', 'meter', '--realm', realm, '--scope', 'read'];
    const { id, key } = await site.pair.cli('key', 'add', ...args);
    return { id: String(id), key: String(key) };
  };

  beforeAll(async () => {
    site = await startSite(kind, { spaces: SPACES });
    const realms = ['keys', 'renamed', 'few', 'scoped', 'with-digest', 'beside'];
    const added = realms.map(async (realm) => keys.set(realm, await add(realm)));
    await Promise.all(added);
  });
  afterAll(async () => {
    const { log } = site.pair.resources[0] ?? { log: '' };
    await site[Symbol.asyncDispose]();
    for (const { key } of keys.values()) expect(log).not.toContain(key);
  });

  const keyOf = (realm: string) => keys.get(realm)?.key ?? '';
  const application = (realm: string) =>
    JSON.stringify({ scheme: 'API-Key', realm, principal: { kind: 'application', id: 'meter' } });
  const withKey = (key: string, name = KEY) => ['--header', `${name}: ${key}`];

  const refused = async (status: number, ...args: readonly string[]) => {
    const { statuses, fields } = await curl(...args);
    expect(statuses).toEqual([status]);
    expect(fields.get('content-type')).toEqual(['application/problem+json']);
    return fields;
  };

  describe('an API key in a field', () => {
    test("admits curl's GET, HEAD and POST, with RateLimit in the answers", async () => {
      const args = [...withKey(keyOf('keys')), site.url('keys')];
      const get = await curl(...args);
      expect(get).toMatchObject({ statuses: [200], body: application('keys') });
      expect(get.fields.get('ratelimit-policy')).toEqual(['"api-key";q=100;w=60']);
      expect(get.fields.get('ratelimit')).toEqual([
        expect.stringMatching(/^"api-key";r=99;t=\d+$/),
      ]);
      expect(get.fields.get('cache-control')).toEqual(['private, no-store']);
      expect(await curl('--head', ...args)).toMatchObject({ statuses: [200], body: '' });
      const post = await curl('--data', 'content', ...args);
      expect(post).toMatchObject({ statuses: [200], body: application('keys') });
    });

    test('admits undici', async () => {
      const { statusCode, body } = await request(site.url('keys'), {
        headers: { 'X-API-Key': keyOf('keys') },
      });
      expect([statusCode, await body.text()]).toEqual([200, application('keys')]);
    });

    test('is accepted under the field name of its space, and under no other name', async () => {
      const right = withKey(keyOf('renamed'), 'ocp-key');
      expect(await curl(...right, site.url('renamed'))).toMatchObject({ statuses: [200] });
      await refused(403, ...withKey(keyOf('renamed')), site.url('renamed'));
    });

    test.each([
      ['none', () => []],
      ['an empty one', () => ['--header', 'X-API-Key;']],
      ['nonsense', () => withKey('secret')],
      ['one with another secret', () => withKey(keyOf('keys').replace(/.$/, 'x'))],
      ['one of another realm', () => withKey(keyOf('renamed'))],
      [
        'a key in a query that the space does not read',
        () => ['--url-query', `key=${keyOf('keys')}`],
      ],
      ['a key as a Bearer token', () => ['--oauth2-bearer', keyOf('keys')]],
      ['a key as a password', () => ['--user', `meter:${keyOf('keys')}`]],
    ])('gets 403, without a challenge, if it is %s', async (_what, args) => {
      const fields = await refused(403, ...args(), site.url('keys'));
      expect(fields.has('www-authenticate')).toBe(false);
    });

    test('gets 400 beside a second key, even if one of them is right', async () => {
      const right = withKey(keyOf('keys'));
      await refused(400, ...right, ...right, site.url('keys'));
      await refused(400, ...right, ...withKey('other'), site.url('keys'));
    });

    test('is limited by its scopes: it may read, but not write', async () => {
      const args = [...withKey(keyOf('scoped')), site.url('scoped')];
      expect(await curl(...args)).toMatchObject({ statuses: [200] });
      await refused(403, '--data', 'content', ...args);
    });
  });

  describe('an API key in the query', () => {
    const url = (query: string) => `${site.url('renamed')}?${query}`;

    test('admits curl and undici if the space allows it; answers may not be cached or send a referrer', async () => {
      const query = `a=b&key=${keyOf('renamed')}`;
      const { statuses, fields, body } = await curl(url(query));
      expect({ statuses, body }).toEqual({ statuses: [200], body: application('renamed') });
      expect(fields.get('cache-control')).toEqual([expect.stringContaining('private')]);
      expect(fields.get('referrer-policy')).toEqual(['no-referrer']);
      expect((await request(url(query))).statusCode).toBe(200);
    });

    test('gets 403 if it is wrong, and the answer sends no referrer either', async () => {
      const fields = await refused(403, url('key=wrong'));
      expect(fields.get('referrer-policy')).toEqual(['no-referrer']);
    });

    test('gets 400 beside another key in the query or in a field', async () => {
      const key = keyOf('renamed');
      await refused(400, url(`key=${key}&key=${key}`));
      await refused(400, ...withKey(key, 'ocp-key'), url(`key=${key}`));
    });
  });

  describe('a space with API keys and other schemes', () => {
    test('admits by the key or by the password', async () => {
      const url = site.url('with-digest');
      const byKey = await curl(...withKey(keyOf('with-digest')), url);
      expect(byKey).toMatchObject({ statuses: [200], body: application('with-digest') });
      const byPassword = await curl('--digest', ...USER, url);
      expect(byPassword).toMatchObject({
        statuses: [401, 200],
        body: identity('Digest', 'with-digest'),
      });
    });

    test.each([[[]], [withKey('wrong')]])(
      'answers 401 without valid credentials (%j)',
      async (args) => {
        const fields = await refused(401, ...args, site.url('with-digest'));
        expect(fields.get('www-authenticate')).toEqual([expect.stringMatching(/^Digest /)]);
      },
    );

    test('answers 400 to a key and a password together', async () => {
      const args = ['--basic', ...USER, ...withKey(keyOf('with-digest'))];
      await refused(400, ...args, site.url('with-digest'));
    });
  });

  describe("an API key beside a person's credentials", () => {
    const url = () => site.url('beside');
    const left = (fields: ReadonlyMap<string, readonly string[]>) =>
      Number(/;r=(\d+);/.exec(fields.get('ratelimit')?.[0] ?? '')?.[1]);

    test.each([
      ['--digest', [401, 200], 'Digest'],
      ['--basic', [200], 'Basic'],
    ])(
      "%s: the person is admitted, and the application's limit counts each request",
      async (how, statuses, scheme) => {
        const args = [how, ...USER, ...withKey(keyOf('beside')), url()];
        const told = await curl(...args);
        expect(told).toMatchObject({ statuses, body: identity(scheme, 'beside') });
        const after = await curl(...args);
        expect(left(after.fields)).toBe(left(told.fields) - statuses.length);
      },
    );

    test('may be missing: the person is admitted', async () => {
      expect(await curl('--basic', ...USER, url())).toMatchObject({ statuses: [200] });
    });

    test.each([
      ['a key alone', () => withKey(keyOf('beside'))],
      [
        'a wrong password with a key',
        () => ['--basic', ...WRONG_USER, ...withKey(keyOf('beside'))],
      ],
      ['a wrong key with a password', () => ['--basic', ...USER, ...withKey('wrong')]],
      ['a key of another realm', () => ['--basic', ...USER, ...withKey(keyOf('keys'))]],
    ])('is refused with 401 if it is %s', async (_what, args) => {
      const fields = await refused(401, ...args(), url());
      expect(fields.get('www-authenticate')).toHaveLength(2);
    });
  });

  test('beyond the limit the server answers 429, and curl is admitted after the Retry-After time', async () => {
    const args = [...withKey(keyOf('few')), site.url('few')];
    for (let count = 0; count < 2; count += 1) {
      expect(await curl(...args)).toMatchObject({ statuses: [200] });
    }
    const fields = await refused(429, ...args);
    expect(fields.get('retry-after')).toEqual(['1']);
    expect(fields.get('ratelimit')).toEqual(['"api-key";r=0;t=1']);
    const told = await curl('--retry', '3', ...args);
    expect(told.statuses.at(-1)).toBe(200);
  });

  test('after a rotation both keys are valid until the old key is revoked', async () => {
    const old = await add('keys');
    const { key } = await site.pair.cli('key', 'rotate', old.id);
    const statuses = async () =>
      Promise.all(
        [old.key, String(key)].map(
          async (one) => (await curl(...withKey(one), site.url('keys'))).statuses,
        ),
      );
    expect(await statuses()).toEqual([[200], [200]]);
    await site.pair.cli('key', 'remove', old.id);
    expect(await statuses()).toEqual([[403], [200]]);
  });
});
