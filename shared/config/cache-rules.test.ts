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

describe('a cache cannot be', () => {
  test.each<[string, object, object, string]>([
    ['of documents', { serves: 'documents', upstream: undefined, cache: {} }, {}, 'cache'],
    ['of nothing but /verify', { serves: 'verify', upstream: undefined, cache: {} }, {}, 'cache'],
    [
      'where answers depend on the connection',
      { schemes: [], upstream: { ...SPACE.upstream, concealedExport: true }, cache: {} },
      { tls: {} },
      'cache',
    ],
    [
      'private, where nobody is asked',
      { schemes: [], cache: { kind: 'private' } },
      {},
      'cache.kind',
    ],
    [
      'private, where somebody has no name',
      { schemes: ['PrivateToken'], cache: { kind: 'private' } },
      { privateTokens: { issuer: 'https://localhost:3444' } },
      'cache.kind',
    ],
    ['purged by nobody', { schemes: [], cache: from() }, {}, 'cache.purge.networks'],
    [
      'purged by whoever may use the proxy',
      { cache: from('127.0.0.0/8') },
      PROXY,
      'cache.purge.networks',
    ],
    [
      'purged by it and by the application',
      { methods: ['GET', 'BAN'], cache: from() },
      {},
      'methods',
    ],
  ])('%s', (_, space, config, path) => {
    expect(mistakes(space, config)).toContain(`spaces.0.${path}`);
  });
});

test.each<[string, object, object]>([
  ['shared', { cache: {} }, {}],
  ['private', { cache: { kind: 'private' } }, {}],
  ['shared, where nobody is asked', { schemes: [], cache: {} }, {}],
  ['purged from a network alone', { schemes: [], cache: from('192.0.2.0/24') }, {}],
  ['purged from a network, with a proxy to itself', { cache: from('2001:db8::/32') }, PROXY],
  ['with methods of the application', { methods: ['GET', 'BAN'], cache: {} }, {}],
])('a cache can be %s', (_, space, config) => {
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
