import { crc32 } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { createAttempts } from '../../credentials/attempts.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { judge } from '../../judge/judge.ts';
import { spaceOf } from '../../judge/judge.fixture.ts';
import type { AuthRequest } from '../../scheme.ts';
import { apiKey, type ApiKeyOptions } from './api-key.ts';

const REALM = 'reports';
const opened: AsyncDisposable[] = [];

afterAll(async () => {
  for (const one of opened) await one[Symbol.asyncDispose]();
});

/** A space with one key; `touched` records when the key was used. */
async function setup(more: Partial<ApiKeyOptions> = {}, account = { burst: 1000, per: 1 }) {
  const clock = new ManualClock();
  const folder = await storeFolder();
  const stores = await openSqlite({ folder, clock, random: systemRandom });
  opened.push(stores);
  const { apiKeys, limits } = stores;
  const asked: string[] = [];
  const touched: [string, number][] = [];
  const scheme = (other: Partial<ApiKeyOptions> = {}) =>
    apiKey({
      realm: REALM,
      field: 'X-API-Key',
      limit: { burst: 100, per: 0.6 },
      limits,
      attempts: createAttempts({ limits, account, address: { burst: 1000, per: 1 } }),
      clock,
      demo: true,
      apiKeys: {
        get: (id) => {
          asked.push(id);
          return apiKeys.get(id);
        },
        touch: async (id, at) => {
          touched.push([id, at]);
          await apiKeys.touch(id, at);
        },
      },
      ...more,
      ...other,
    });
  async function issue(record: Partial<ApiKeyRecord> = {}): Promise<string> {
    const { key, ...kept } = newApiKey(systemRandom);
    const base = { application: 'collector', realm: REALM, scopes: ['reports:read'] };
    await apiKeys.add({ ...base, created_at: clock.now(), ...kept, ...record });
    return key;
  }
  return { clock, stores, asked, touched, scheme, issue, key: await issue() };
}

const withKey = (...values: string[]): AuthRequest =>
  requestOf(values.map((value) => ['x-api-key', value] as const));

const inQuery = (query: string, ...values: string[]): AuthRequest => ({
  ...withKey(...values),
  target: `/reports/a?${query}`,
});

const authenticate = async (scheme: ReturnType<typeof apiKey>, request: AuthRequest) =>
  scheme.authenticate({ scheme: 'api-key', rest: '' }, request);

/** Returns the verdict of a space that takes only API keys. */
const judged = async (scheme: ReturnType<typeof apiKey>, request: AuthRequest) =>
  judge(spaceOf([scheme], { realm: REALM }), request);

describe('a key identifies an application', () => {
  test('the application gets its own scopes, and is never treated as a person', async () => {
    const { scheme, key } = await setup();
    expect(await judged(scheme(), withKey(key))).toMatchObject({
      kind: 'pass',
      scheme: 'API-Key',
      principal: {
        kind: 'application',
        id: 'collector',
        scopes: new Set(['reports:read']),
      },
    });
  });

  test('RFC 9110 section 15.5.2: an API key has no challenge, so a missing or wrong key gets 403', async () => {
    const { scheme, key } = await setup();
    const wrong = await judged(scheme(), withKey(key.replace(/.$/, 'x')));
    const missing = await judged(scheme(), withKey());
    for (const outcome of [wrong, missing]) {
      expect(outcome).toMatchObject({ kind: 'answer', status: 403, fields: {} });
    }
  });

  test('two keys of one application may be valid at the same time', async () => {
    const { scheme, key, issue } = await setup();
    for (const one of [key, await issue()]) {
      expect((await authenticate(scheme(), withKey(one))).kind).toBe('granted');
    }
  });

  test('the space configures the name of the field', async () => {
    const { scheme, key } = await setup({ field: 'Report-Key' });
    const fields = [['report-key', key]] as const;
    expect((await authenticate(scheme(), requestOf(fields))).kind).toBe('granted');
    expect((await authenticate(scheme(), withKey(key))).kind).toBe('refused');
  });
});

describe('one key in one place', () => {
  test('the key field twice gets 400, even with the same key', async () => {
    const { scheme, key } = await setup();
    expect(() => scheme().locate?.(withKey(key, key))).toThrow(BadRequest);
    expect(await judged(scheme(), withKey(key, key))).toMatchObject({ status: 400 });
  });

  test('the key parameter twice, or field and parameter, gets 400', async () => {
    const { scheme, key } = await setup({ query: 'key' });
    for (const request of [
      inQuery(`key=${key}&key=${key}`),
      inQuery(`key=${key}&%6bey=`),
      inQuery(`key=${key}`, key),
      inQuery('key', key),
    ]) {
      expect(await judged(scheme(), request)).toMatchObject({ kind: 'answer', status: 400 });
    }
  });

  test('the key parameter is read only if the space allows it', async () => {
    const { scheme, key } = await setup();
    const request = inQuery(`a=b&key=${key}`);
    expect((await authenticate(scheme({ query: 'key' }), request)).kind).toBe('granted');
    expect(scheme().locate?.(request)).toBeUndefined();
    expect(await judged(scheme(), request)).toMatchObject({ status: 403 });
    expect((await authenticate(scheme(), inQuery(`key=${key}`, key))).kind).toBe('granted');
  });

  test('a key in the Authorization field is not read', async () => {
    const { scheme, key } = await setup();
    for (const name of ['API-Key', 'Bearer']) {
      const request = requestOf([['Authorization', `${name} ${key}`]]);
      expect(await judged(scheme(), request)).toMatchObject({ kind: 'answer', status: 403 });
    }
    const both = requestOf([
      ['Authorization', `API-Key ${key}`],
      ['X-API-Key', key],
    ]);
    expect(await judged(scheme(), both)).toMatchObject({ status: 400 });
  });
});

describe('a wrong key', () => {
  test('an unknown, wrong, expired or demo key, or a key of another realm, gets the same answer after one read of the store; only the reason differs', async () => {
    const { scheme, key, issue, clock, asked } = await setup();
    const other = newApiKey(systemRandom);
    const unknown = newApiKey(systemRandom);
    const [, id = ''] = key.split('_');
    const keys = {
      unknown: unknown.key,
      wrong: respelt(`cs_${id}_${other.key.slice(20, 84)}`),
      expired: await issue({ expires_at: clock.now() }),
      elsewhere: await issue({ realm: 'other' }),
      demo: await issue({ demo: true }),
    };
    const reasons = {
      unknown: refuse('api-key-wrong'),
      wrong: refuse('api-key-wrong'),
      expired: refuse('api-key-ended'),
      elsewhere: refuse('api-key-realm', { realm: 'other', here: 'reports' }),
      demo: refuse('api-key-demo'),
    };
    for (const name of ['unknown', 'wrong', 'expired', 'elsewhere', 'demo'] as const) {
      const one = keys[name];
      asked.length = 0;
      expect(await authenticate(scheme({ demo: false }), withKey(one))).toEqual({
        kind: 'refused',
        ...reasons[name],
        fields: {},
      });
      expect(asked).toHaveLength(1);
    }
    expect((await authenticate(scheme(), withKey(keys.demo))).kind).toBe('granted');
  });

  test('a key works to the last millisecond before it expires', async () => {
    const { scheme, issue, clock } = await setup();
    const key = await issue({ expires_at: clock.now() + 1000 });
    expect((await authenticate(scheme(), withKey(key))).kind).toBe('granted');
    clock.advance(1);
    expect((await authenticate(scheme(), withKey(key))).kind).toBe('refused');
  });

  test('a key that another process revoked or removed is refused by the next request', async () => {
    const { scheme, issue, stores, clock } = await setup();
    const [first, second] = [await issue(), await issue()];
    const one = scheme();
    await authenticate(one, withKey(first));
    await stores.apiKeys.expire(first.slice(3, 19), clock.now());
    await stores.apiKeys.remove(second.slice(3, 19));
    for (const key of [first, second]) {
      expect((await authenticate(one, withKey(key))).kind).toBe('refused');
    }
  });

  test('a key of an unknown format is refused without a read of the store', async () => {
    const { scheme, key, asked } = await setup();
    for (const text of [
      '',
      ' ',
      key.toUpperCase(),
      `${key} `,
      `Bearer ${key}`,
      'x'.repeat(65_536),
    ]) {
      expect((await authenticate(scheme(), withKey(text))).kind).toBe('refused');
    }
    expect(asked).toEqual([]);
  });

  test('for any input, the scheme throws only if there is more than one key', async () => {
    const { scheme } = await setup({ query: 'key' });
    const one = scheme();
    await fc.assert(
      fc.asyncProperty(anyText(), fc.string(), async (query, value) => {
        const request = inQuery(query, value);
        const outcome = await judged(one, request);
        expect(outcome).toMatchObject({ kind: 'answer' });
        expect([400, 403]).toContain(outcome.kind === 'answer' && outcome.status);
      }),
    );
  });

  test('guessing is throttled by id and address; a client with the right key is not affected', async () => {
    const { scheme, key } = await setup({}, { burst: 3, per: 60 });
    const one = scheme();
    const wrong = respelt(`${key.slice(0, 20)}${'0'.repeat(64)}`);
    expect((await authenticate(one, withKey(key))).kind).toBe('granted');
    const thief = {
      ...withKey(wrong),
      peer: { address: '198.51.100.1', connection: {}, http2: false, trusted: false },
    };
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, async () => authenticate(one, thief)),
    );
    expect(verdicts.filter(({ kind }) => kind === 'refused')).toHaveLength(2);
    expect(verdicts.filter(({ kind }) => kind === 'unavailable')).toHaveLength(8);
    expect((await authenticate(one, withKey(key))).kind).toBe('granted');
  });
});

test('an address that used the key a short time ago uses up attempts again after a wrong key', async () => {
  const { scheme, key } = await setup({}, { burst: 2, per: 60 });
  const one = scheme();
  const wrong = respelt(`${key.slice(0, 20)}${'0'.repeat(64)}`);
  await authenticate(one, withKey(key));
  const kinds = [];
  for (const text of [wrong, wrong, wrong]) {
    kinds.push((await authenticate(one, withKey(text))).kind);
  }
  expect(kinds).toEqual(['refused', 'refused', 'unavailable']);
});

describe('the limit of a key (draft-ietf-httpapi-ratelimit-headers-11)', () => {
  test('each answer says how much of the limit is left', async () => {
    const { scheme, key } = await setup();
    const verdict = await authenticate(scheme(), withKey(key));
    expect(verdict).toMatchObject({
      proof: {
        fields: {
          'RateLimit-Policy': '"api-key";q=100;w=60',
          RateLimit: '"api-key";r=99;t=1',
        },
      },
    });
  });

  test('an exhausted limit gives 429 with Retry-After; another key is not affected', async () => {
    const { scheme, key, issue, clock } = await setup({ limit: { burst: 2, per: 30 } });
    const one = scheme();
    const verdicts = [];
    for (let time = 0; time < 3; time += 1) verdicts.push(await authenticate(one, withKey(key)));
    expect(verdicts.map(({ kind }) => kind)).toEqual(['granted', 'granted', 'unavailable']);
    expect(verdicts[2]).toEqual({
      kind: 'unavailable',
      status: 429,
      ...refuse('api-key-limit'),
      retryAfter: 30,
      fields: {
        'RateLimit-Policy': '"api-key";q=2;w=60',
        RateLimit: '"api-key";r=0;t=30',
      },
    });
    expect((await authenticate(one, withKey(await issue()))).kind).toBe('granted');
    clock.advance(30);
    expect((await authenticate(one, withKey(key))).kind).toBe('granted');
  });

  test('ten requests at the same time never get more than the burst', async () => {
    const { scheme, key } = await setup({ limit: { burst: 4, per: 60 } });
    const one = scheme();
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, async () => authenticate(one, withKey(key))),
    );
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(4);
  });

  test("a wrong key uses up nothing of the right key's limit", async () => {
    const { scheme, key } = await setup({ limit: { burst: 2, per: 60 } });
    const one = scheme();
    const wrong = respelt(`${key.slice(0, 20)}${'0'.repeat(64)}`);
    for (let time = 0; time < 5; time += 1) await authenticate(one, withKey(wrong));
    expect(await authenticate(one, withKey(key))).toMatchObject({
      proof: { fields: { RateLimit: '"api-key";r=1;t=60' } },
    });
  });

  test('section 3.1.3: a window is a whole number of seconds, at least one', async () => {
    const { scheme, key } = await setup({ limit: { burst: 10, per: 0.001 } });
    expect(await authenticate(scheme(), withKey(key))).toMatchObject({
      proof: { fields: { 'RateLimit-Policy': '"api-key";q=10;w=1' } },
    });
  });
});

describe('a key in the query', () => {
  const PRIVATE = { 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'no-referrer' };

  test('the answer is private and forbids the referrer, if the key is accepted, refused or throttled', async () => {
    const { scheme, key } = await setup({ query: 'key', limit: { burst: 1, per: 60 } });
    const one = scheme();
    expect(await judged(one, inQuery(`key=${key}`))).toMatchObject({ fields: PRIVATE });
    expect(await authenticate(one, inQuery(`key=${key}`))).toMatchObject({
      kind: 'unavailable',
      fields: { ...PRIVATE, RateLimit: '"api-key";r=0;t=60' },
    });
    expect(await judged(one, inQuery('key=wrong'))).toMatchObject({ status: 403, fields: PRIVATE });
  });

  test('the answer to a key in the field has none of these fields', async () => {
    const { scheme, key } = await setup({ query: 'key' });
    const outcome = await judged(scheme(), withKey(key));
    expect(Object.keys(outcome.kind === 'pass' ? outcome.fields : {})).toEqual([
      'RateLimit-Policy',
      'RateLimit',
    ]);
  });

  test('the key is in no log line and in no answer', async () => {
    const { scheme, key } = await setup({ query: 'key' });
    const wrong = newApiKey(systemRandom).key;
    const one = scheme();
    for (const [text, request] of [
      [key, inQuery(`key=${key}`)],
      [key, withKey(key)],
      [wrong, inQuery(`key=${wrong}`)],
      [wrong, inQuery(`key=${wrong}&key=${wrong}`)],
      [wrong, withKey(wrong)],
    ] as const) {
      const outcome = await judged(one, request);
      expect(JSON.stringify(outcome)).not.toContain(text.slice(20, 84));
    }
    expect(one.locate?.(withKey(key))).toEqual({ scheme: 'api-key', rest: '' });
  });
});

describe("the time of a key's last use", () => {
  test('the last use of a key is stored at most once a minute', async () => {
    const { scheme, key, touched, clock } = await setup();
    const one = scheme();
    const start = clock.now();
    for (const seconds of [0, 30, 29, 1, 59]) {
      clock.advance(seconds);
      await authenticate(one, withKey(key));
    }
    expect(touched.map(([, at]) => (at - start) / 1000)).toEqual([0, 60]);
  });

  test('a wrong key does not change the last use', async () => {
    const { scheme, key, touched } = await setup();
    await authenticate(scheme(), withKey(respelt(`${key.slice(0, 20)}${'0'.repeat(64)}`)));
    expect(touched).toEqual([]);
  });

  test('if the last use cannot be stored, or never is, the request is neither delayed nor refused', async () => {
    const { key, stores, scheme } = await setup();
    const get = stores.apiKeys.get;
    const fails = async () => Promise.reject(new StoreUnavailable('silent'));
    const hangs = async () => Promise.withResolvers<void>().promise;
    for (const touch of [fails, hangs]) {
      const verdict = await authenticate(scheme({ apiKeys: { get, touch } }), withKey(key));
      expect(verdict.kind).toBe('granted');
    }
  });
});

test('a store that does not answer gives 503', async () => {
  const { scheme, key, stores } = await setup();
  await stores[Symbol.asyncDispose]();
  expect(await judged(scheme(), withKey(key))).toMatchObject({ kind: 'answer', status: 503 });
});

/** Returns the text with the right checksum. */
function respelt(body: string): string {
  return `${body}${crc32(body).toString(16).padStart(8, '0')}`;
}
