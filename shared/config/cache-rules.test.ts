import { describe, expect, test } from '@jest/globals';
import { configJsonSchema } from './json-schema.ts';
import { RULES } from './rules.ts';
import { configSchema } from './schema.ts';
import { configWarnings } from './warnings.ts';

const NOW = Date.UTC(2026, 0, 1);

const SPACE = {
  url: 'http://localhost:3001/app/',
  realm: 'app',
  schemes: ['Bearer'],
  serves: 'upstream',
  upstream: { url: 'http://127.0.0.1:8080/app/' },
};

const parsed = (space: object, config: object = {}) =>
  configSchema.parse({ ...config, spaces: [{ ...SPACE, ...space }] });
const mistakes = (space: object, config?: object) => {
  const whole = parsed(space, config);
  return RULES.flatMap(({ check }) => check(whole, {})).map(({ path }) => path);
};
const from = (...networks: string[]) => ({ purge: { networks } });
const PROXY = { proxy: { destinations: ['self'] } };

describe('a configuration is refused:', () => {
  test.each<[string, object, object, string]>([
    [
      'a cache for a space of documents',
      { serves: 'documents', upstream: undefined, cache: {} },
      {},
      'cache',
    ],
    [
      'a cache for a space that serves only /verify',
      { serves: 'verify', upstream: undefined, cache: {} },
      {},
      'cache',
    ],
    [
      'a cache where answers depend on the connection',
      { schemes: [], upstream: { ...SPACE.upstream, concealedExport: true }, cache: {} },
      { tls: {} },
      'cache',
    ],
    [
      'a private cache without authentication',
      { schemes: [], cache: { kind: 'private' } },
      {},
      'cache.kind',
    ],
    [
      'a private cache for clients without a name',
      { schemes: ['PrivateToken'], cache: { kind: 'private' } },
      { privateTokens: { issuer: 'https://localhost:3444' } },
      'cache.kind',
    ],
    ['a PURGE that no client may send', { schemes: [], cache: from() }, {}, 'cache.purge.networks'],
    [
      'a PURGE that every user of the proxy may send',
      { cache: from('127.0.0.0/8') },
      PROXY,
      'cache.purge.networks',
    ],
    [
      'a BAN for the cache that is also a method of the application',
      { methods: ['GET', 'BAN'], cache: from() },
      {},
      'methods',
    ],
  ])('%s', (_, space, config, path) => {
    expect(mistakes(space, config)).toContain(`spaces.0.${path}`);
  });
});

test.each<[string, object, object]>([
  ['a shared cache', { cache: {} }, {}],
  ['a private cache', { cache: { kind: 'private' } }, {}],
  ['a shared cache without authentication', { schemes: [], cache: {} }, {}],
  ['a cache with PURGE only from a network', { schemes: [], cache: from('192.0.2.0/24') }, {}],
  [
    'a cache with PURGE from a network that the proxy to itself does not use',
    { cache: from('2001:db8::/32') },
    PROXY,
  ],
  ['a cache that leaves BAN to the application', { methods: ['GET', 'BAN'], cache: {} }, {}],
])('%s is accepted', (_, space, config) => {
  expect(mistakes(space, config)).toEqual([]);
});

test.each([
  [{ purge: { networks: ['localhost'] } }],
  [{ purge: { networks: ['10.0.0.0/33'] } }],
  [{ maxBytes: 10 }],
  [{ disk: {} }],
  [{ targeted: ['CDN Cache-Control'] }],
  [{ kind: 'public' }],
])('cache settings %j are refused', (cache) => {
  expect(() => parsed({ cache })).toThrow();
});

describe('the scope of PURGE and BAN', () => {
  const scopes = (space: object) => parsed(space).spaces[0]?.scopes;

  test('is cache:purge, even if other unsafe methods need another scope', () => {
    expect(scopes({ scopes: { unsafe: ['write'] }, cache: from() })).toEqual({
      unsafe: ['write'],
      PURGE: ['cache:purge'],
      BAN: ['cache:purge'],
    });
  });

  test('is the scope that the space sets for the method', () => {
    expect(scopes({ scopes: { BAN: ['admin'] }, cache: from() })).toEqual({
      PURGE: ['cache:purge'],
      BAN: ['admin'],
    });
  });

  test('is absent if the methods are off, or if the space has no authentication', () => {
    expect(scopes({ cache: {} })).toEqual({});
    expect(scopes({ schemes: [], cache: from('192.0.2.1') })).toEqual({});
  });

  test('can be written and read back', () => {
    const once = parsed({ cache: from() });
    expect(configSchema.parse(once)).toEqual(once);
  });
});

describe('settings that are probably a mistake', () => {
  const warned = (networks: readonly string[], trustedProxies: readonly string[] = []) =>
    configWarnings(parsed({ cache: from(...networks) }, { trustedProxies }), NOW).map(
      ({ path }) => path,
    );

  test.each([
    ['0.0.0.0/0', ['0.0.0.0/0'], []],
    ['::/0', ['::/0'], []],
    ['a trusted proxy', ['10.0.0.1'], ['10.0.0.1']],
    ['one of the trusted network', ['10.0.0.1'], ['10.0.0.0/8']],
    ['a network with a trusted proxy', ['10.0.0.0/8'], ['10.1.2.3']],
  ])('%s in purge.networks gets a warning', (_, networks, trusted) => {
    expect(warned(networks, trusted)).toEqual(['spaces.0.cache.purge.networks']);
  });

  test('a network without a trusted proxy gets no warning', () => {
    expect(warned(['10.0.0.0/24', '2001:db8::/64'], ['10.0.1.1', '2001:db8:1::/64'])).toEqual([]);
  });
});

test('the JSON Schema explains CDN-Cache-Control, and purges without credentials', () => {
  const text = JSON.stringify(configJsonSchema());
  expect(text).toContain('CDN-Cache-Control');
  expect(text).toContain('need no credentials for PURGE and BAN');
});
