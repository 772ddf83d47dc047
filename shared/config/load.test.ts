import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { loadConfig } from './load.ts';
import { listenerOf } from './local-origin.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { REDIS_URL } from '#shared/stores/redis-url.ts';

const SECRET = 'a secret of more than thirty-two bytes';
const PUBLIC = {
  COUNTERSIGN_ISSUER: 'https://auth.example',
  COUNTERSIGN_RESOURCE: 'https://api.example',
  COUNTERSIGN_SECRET: SECRET,
};

async function fileWith(content: unknown): Promise<string> {
  const file = join(await temporaryFolder(), 'countersign.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

async function load(content: unknown, env: NodeJS.ProcessEnv = {}) {
  return loadConfig({ COUNTERSIGN_CONFIG: await fileWith(content), ...env });
}

const NOT_A_SETTING = 'is not a setting: remove it, or correct its name';

/** The mistakes of a configuration, as a record from path to message. */
async function mistakes(content: unknown, env: NodeJS.ProcessEnv = {}) {
  const error: unknown = await load(content, env).catch((reason: unknown) => reason);
  if (!(error instanceof ConfigError)) throw new Error('no ConfigError', { cause: error });
  return Object.fromEntries(error.mistakes.map(({ path, message }) => [path, message]));
}

const space = (members: object = {}) => ({
  url: 'http://localhost:3001/a/',
  realm: 'a',
  schemes: ['Bearer'],
  ...members,
});

describe('precedence: environment over file, file over defaults', () => {
  test('without settings, the default configuration listens on loopback, with ./data in the working directory', async () => {
    const config = await loadConfig({});
    expect(config.issuer).toBe('http://localhost:3000');
    expect(config.data).toBe(join(process.cwd(), 'data'));
    expect(config.spaces.map(({ url, hide }) => [url, hide])).toEqual([
      ['http://localhost:3001/documents/', undefined],
      ['http://localhost:3001/hidden/', 'forbidden'],
      ['http://localhost:3001/schemes/concealed/', 'everything'],
      ...[
        'negotiate',
        'gnap',
        'hoba',
        'mutual',
        'scram-sha-256',
        'digest',
        'scram-sha-1',
        'basic',
        'private-token',
        'api-key',
        'all',
      ].map((name) => [`http://localhost:3001/schemes/${name}/`, undefined]),
      ['http://localhost:3001/dav/', undefined],
      ['http://localhost:3001/dav-basic/', undefined],
      ['http://localhost:3001/push/', undefined],
    ]);
    expect(config.tls).toEqual({ resource: 'https://localhost:3443' });
    expect(config.privateTokens).toMatchObject({ issuer: 'https://localhost:3444' });
    const listen = { resourceTls: { port: 4001 }, authzTls: { port: 4002 } };
    const elsewhere = await load({ listen });
    expect(elsewhere.tls).toEqual({ resource: 'https://localhost:4001' });
    expect(elsewhere.privateTokens).toMatchObject({ issuer: 'https://localhost:4002' });
    expect(config.gnap).toEqual({
      clients: 'anybody',
      mtls: false,
      push: ['public:443'],
    });
    expect(config.proxy).toMatchObject({ realm: 'proxy', destinations: ['self'] });
    expect(config.spaces[0]?.scopes).toEqual({
      safe: ['documents:read'],
      unsafe: ['documents:write'],
    });
  });

  test('unregistered clients may request the scopes that read documents in development, and none in production', async () => {
    const opened = async (members: object, env = {}) =>
      (await load(members, env)).spaces.filter((one) => one.documentClients.length > 0);
    expect(await opened({})).toMatchObject([
      { realm: 'documents', documentClients: ['documents:read'] },
    ]);
    expect(await opened({ spaces: [space()] })).toEqual([]);
    const production = { issuer: 'https://a.example', resource: 'https://r.example' };
    expect(
      await opened(
        { ...production, clients: { documents: 'allow' } },
        { COUNTERSIGN_SECRET: SECRET },
      ),
    ).toEqual([]);
  });

  test('every scope of the default configuration has a text in both languages, which the file may change', async () => {
    const { spaces, scopeTexts } = await load({ scopeTexts: { 'documents:read': { en: 'Look' } } });
    const scopes = new Set(spaces.flatMap((one) => Object.values(one.scopes).flat()));
    expect(Object.keys(scopeTexts).toSorted()).toEqual([...scopes].toSorted());
    expect(scopeTexts['documents:read']).toEqual({ en: 'Look' });
    expect(scopeTexts['hidden:write']?.de).toMatch(/verborgene/i);
    expect((await load({ spaces: [space()] })).scopeTexts).toEqual({});
  });

  test('in development, pages of the demo application may call spaces that accept tokens only', async () => {
    const opened = async (members: object, env = {}) =>
      (await load(members, env)).spaces
        .filter(({ cors }) => cors.origins.length > 0)
        .map(({ url, cors }) => [new URL(url).pathname, cors.origins, cors.credentials]);
    const origins = ['http://localhost:8080', 'http://127.0.0.1:8080'];
    expect(await opened({})).toEqual([
      ['/documents/', origins, false],
      ['/schemes/gnap/', origins, false],
      ['/push/', origins, false],
    ]);
    expect(await opened({ spaces: [space()] })).toEqual([]);
    const production = { issuer: 'https://a.example', resource: 'https://r.example' };
    expect(await opened(production, { COUNTERSIGN_SECRET: SECRET })).toEqual([]);
  });

  test('a listener may set its port only', async () => {
    const config = await load({ listen: { authz: { port: 4000 } } });
    expect(listenerOf(config, 'authz')).toEqual({ host: '127.0.0.1', port: 4000 });
    expect(listenerOf(config, 'resource')).toEqual({ host: '127.0.0.1', port: 3001 });
  });

  test('paths are relative to the configuration file, for the pair and for a space', async () => {
    const file = await fileWith({
      brand: { logo: 'logo.svg' },
      tls: { certificate: 'tls/c.pem', key: '/k.pem' },
      issuer: 'https://a.example',
      resource: 'https://r.example',
      spaces: [
        space({
          url: 'https://r.example/a/',
          schemes: ['Mutual'],
          mutual: { certificate: 'front.pem' },
          serves: 'upstream',
          upstream: { url: 'https://app.example/', tls: { ca: 'ca.pem' } },
        }),
      ],
    });
    const config = await loadConfig({ COUNTERSIGN_CONFIG: file, COUNTERSIGN_SECRET: SECRET });
    const { brand, tls, spaces } = config;
    expect(brand.logo).toBe(join(file, '../logo.svg'));
    expect(tls).toMatchObject({ certificate: join(file, '../tls/c.pem'), key: '/k.pem' });
    expect(spaces[0]?.mutual.certificate).toBe(join(file, '../front.pem'));
    expect(spaces[0]?.upstream?.tls.ca).toBe(join(file, '../ca.pem'));
  });

  test('`data` in the file is relative to the file; COUNTERSIGN_DATA is relative to the working directory', async () => {
    const file = await fileWith({ data: './state' });
    expect((await loadConfig({ COUNTERSIGN_CONFIG: file })).data).toBe(join(file, '../state'));
    const over = await loadConfig({ COUNTERSIGN_CONFIG: file, COUNTERSIGN_DATA: 'mine' });
    expect(over.data).toBe(join(process.cwd(), 'mine'));
  });

  test('with public origins in COUNTERSIGN_ISSUER and COUNTERSIGN_RESOURCE, the default configuration has one space and no proxy', async () => {
    const config = await loadConfig(PUBLIC);
    expect(config.issuer).toBe('https://auth.example');
    expect(config.spaces.map(({ url }) => url)).toEqual(['https://api.example/documents/']);
    expect(config.proxy).toBeUndefined();
  });

  test('COUNTERSIGN_REDIS_URL replaces the URLs of Redis and keeps prefix, master, replicas and deadline', async () => {
    const redis = { urls: ['redis://old:1'], prefix: 'mine', replicas: 1, deadline: 5 };
    const store = { kind: 'postgres', urls: ['postgres://u@a/db'], redis };
    const config = await load(
      { store },
      { COUNTERSIGN_REDIS_URL: 'sentinel:redis://a:26379,redis://b:26379' },
    );
    expect(config.store).toMatchObject({
      ...store,
      redis: {
        ...redis,
        mode: 'sentinel',
        master: 'mymaster',
        urls: ['redis://a:26379', 'redis://b:26379'],
      },
    });
  });

  test('COUNTERSIGN_REDIS_URL needs PostgreSQL, from the file or from COUNTERSIGN_POSTGRES_URL', async () => {
    const redis = { COUNTERSIGN_REDIS_URL: 'redis://a:1' };
    const config = await load({}, { ...redis, COUNTERSIGN_POSTGRES_URL: 'postgres://u@a/db' });
    expect(config.store).toMatchObject({ redis: { mode: 'single', urls: ['redis://a:1'] } });
    expect((await mistakes({}, redis))['COUNTERSIGN_REDIS_URL']).toMatch(
      /keeps nothing of people: set COUNTERSIGN_POSTGRES_URL as well/,
    );
  });

  test('Redis as the only store is refused, with the right setting', async () => {
    const found = await mistakes({ store: { kind: 'redis', urls: ['redis://a:1'] } });
    expect(found['store.kind']).toMatch(
      /write "postgres" with its urls, and Redis .* store\.redis/,
    );
  });

  test('COUNTERSIGN_POSTGRES_URL replaces the URLs and keeps the other members', async () => {
    const store = {
      kind: 'postgres',
      urls: ['postgres://u@old/db'],
      schema: 'mine',
      connections: 8,
      deadline: 5,
    };
    const urls = ['postgres://u:p@a/db', 'postgresql://u:p%2C@[::1]:5433/db?sslmode=require'];
    for (const value of [urls.join(','), ` ${urls.join('\n')} `]) {
      const env = { COUNTERSIGN_POSTGRES_URL: value };
      expect((await load({ store }, env)).store).toEqual({ ...store, urls });
      expect((await load({ store: { kind: 'sqlite' } }, env)).store).toEqual({
        kind: 'postgres',
        urls,
        schema: 'countersign',
        connections: 20,
        deadline: 1,
      });
    }
  });

  test('COUNTERSIGN_AUTHZ_URL sets the URL for keys and verification, unless the file does', async () => {
    const authz = { COUNTERSIGN_AUTHZ_URL: 'http://127.0.0.1:3000' };
    const inside = await load({}, authz);
    expect(inside.jwks).toMatchObject({ url: 'http://127.0.0.1:3000/jwks', maxAge: 300 });
    expect(inside.privateTokens).not.toHaveProperty('url');
    const named = await load({ jwks: { url: 'http://keys.example/jwks', maxAge: 60 } }, authz);
    expect(named.jwks).toMatchObject({ url: 'http://keys.example/jwks', maxAge: 60 });
    const privateTokens = { issuer: 'https://auth.example' };
    const one = await load({ privateTokens }, { ...authz, ...PUBLIC });
    expect(one.privateTokens).toMatchObject({ url: 'http://127.0.0.1:3000' });
  });

  test('an empty variable is ignored', async () => {
    const config = await loadConfig({ COUNTERSIGN_CONFIG: '', COUNTERSIGN_REDIS_URL: '' });
    expect(config.store).toEqual({ kind: 'sqlite' });
  });
});

describe('mistakes in a configuration', () => {
  test('the error names all mistakes by their paths, across members, rules and the environment', async () => {
    const found = await mistakes(
      {
        issuer: 'http://auth.example',
        isuer: 1,
        tokens: { lifetime: 'long', skwe: 1 },
        store: { kind: 'mysql' },
        trustedProxies: ['10.0.0.256'],
        spaces: [space({ scopes: { 'no method': [] } }), space({ realm: 'b' })],
        jwks: { maxAge: 300, cooldown: 60, overlap: 100 },
      },
      { COUNTERSIGN_REDIS_URL: 'http://host' },
    );
    expect(Object.keys(found).toSorted()).toEqual([
      'COUNTERSIGN_REDIS_URL',
      'COUNTERSIGN_SECRET',
      'issuer',
      'isuer',
      'jwks.overlap',
      'resource',
      'spaces.0.scopes.no method',
      'store.kind',
      'tokens.lifetime',
      'tokens.skwe',
      'trustedProxies.0',
    ]);
    expect(found['isuer']).toMatch(/not a setting/);
    expect(found['trustedProxies.0']).toMatch(/^must be .* or an IPv4 address or an IPv6 address$/);
    expect(found['store.kind']).toMatch(/must be one of "sqlite", "postgres"/);
  });

  test.each([
    [{ issuer: 5 }, 'issuer', 'must be text in quotation marks'],
    [{ tokens: { lifetime: '300' } }, 'tokens.lifetime', 'must be a number'],
    [{ tokens: { lifetime: -1 } }, 'tokens.lifetime', 'must be at least 10'],
    [{ server: { streams: 1.5 } }, 'server.streams', 'must be a whole number'],
    [{ listen: { authz: { port: 65_536 } } }, 'listen.authz.port', 'must be at most 65535'],
    [{ store: { kind: 1 } }, 'store.kind', 'must be one of "sqlite", "postgres"'],
    [
      {
        store: { kind: 'postgres', urls: ['postgres://u@a/b'], redis: { urls: ['redis://:/x@a'] } },
      },
      'store.redis.urls.0',
      REDIS_URL,
    ],
    [{ trustedProxies: 'x' }, 'trustedProxies', 'must be a list in brackets, as in ["a"]'],
    [{ spaces: [{}] }, 'spaces.0.url', 'is missing: it must be text in quotation marks'],
  ])('%j is reported with the right value', async (members, path, words) => {
    expect((await mistakes(members))[path]).toBe(words);
  });

  test.each([
    [
      { secondFactor: { required: 'staff' } },
      '.required',
      'must be a list in brackets, as in ["a"]',
    ],
    [{ secondFactor: { required: [''] } }, '.required.0', 'must have at least 1 characters'],
    [{ secondFactor: { required: [] } }, '.required', 'must have at least 1 entries'],
    [{ secondFactor: { groups: ['a'], required: ['a'] } }, '.groups', NOT_A_SETTING],
    [
      { secondFactor: 'on' },
      '',
      'must be one of "off", "optional", "required" or an object in braces, as in {"name": "value"}',
    ],
  ])('people: %j is reported for the intended alternative', async (people, path, words) => {
    expect(await mistakes({ people })).toEqual({ [`people.secondFactor${path}`]: words });
  });

  const LEVELS = 'must be one of "second-factor", "passkey"';
  test.each([
    [{ acr: 'pass' }, '.acr', LEVELS],
    [[{ acr: 'passkey' }, { acr: 'password' }], '.1.acr', LEVELS],
    [{ acr: 'passkey', methods: ['delete'] }, '.methods.0', 'must be safe, unsafe or a method'],
    [{ maxAge: 1 }, '.maxAge', 'must be at least 10'],
    [{ acr: 'passkey', level: 1 }, '.level', NOT_A_SETTING],
    [{}, '', 'asks for nothing: name acr or maxAge, or remove it'],
    [[], '', 'must have at least 1 entries'],
    [
      'passkey',
      '',
      'must be an object in braces, as in {"name": "value"} or a list in brackets, as in ["a"]',
    ],
  ])('authentication: %j is reported for the intended alternative', async (rules, path, words) => {
    expect(await mistakes({ spaces: [space({ authentication: rules })] })).toEqual({
      [`spaces.0.authentication${path}`]: words,
    });
  });

  test('several mistakes in one alternative are all named', async () => {
    const authentication = { acr: 'pass', maxAge: '1', methods: [] };
    const found = await mistakes({ spaces: [space({ authentication })] });
    const members = ['acr', 'maxAge', 'methods'];
    expect(Object.keys(found)).toEqual(members.map((name) => `spaces.0.authentication.${name}`));
  });

  test.each([
    [{ listen: { authz: { port: 'x' } } }, 'listen.authz.port'],
    [{ resource: 'nonsense' }, 'resource'],
    [{ tls: 1 }, 'tls'],
  ])('an http issuer in production is named beside the mistake %j', async (other, path) => {
    const found = await mistakes({ issuer: 'http://auth.example', ...other });
    expect(found['issuer']).toMatch(/use https/);
    expect(found['COUNTERSIGN_SECRET']).toMatch(/is missing/);
    expect(found[path]).toBeDefined();
    expect(found[path]).not.toMatch(/use https/);
  });

  test('trustedProxies accepts single addresses', async () => {
    const trustedProxies = ['127.0.0.1', '::1', '10.0.0.0/8', '2001:db8::/32'];
    expect((await load({ trustedProxies })).trustedProxies).toEqual(trustedProxies);
  });

  test('a rule is not checked if one of its members is invalid', async () => {
    const found = await mistakes({ jwks: { maxAge: 86_000, overlap: 'soon' } });
    expect(Object.keys(found)).toEqual(['jwks.overlap']);
    expect(found['jwks.overlap']).not.toMatch(/at least/);
  });

  test.each([
    ['a missing file', { COUNTERSIGN_CONFIG: '/nowhere/countersign.json' }, /ENOENT/],
    ['a folder', { COUNTERSIGN_CONFIG: tmpdir() }, /EISDIR/],
  ])('%s is named in the message', async (_, env, reason) => {
    await expect(loadConfig(env)).rejects.toThrow(reason);
  });

  test.each([
    ['{"issuer": }', /is not JSON/],
    ['', /is not JSON/],
    ['[]', /one JSON object/],
    ['null', /one JSON object/],
    ['"x"', /one JSON object/],
  ])('a file with %j is named in the message', async (content, reason) => {
    const found = await mistakes(content);
    expect(found['COUNTERSIGN_CONFIG']).toMatch(reason);
  });

  test('a repeated member is a mistake, with its path', async () => {
    const found = await mistakes('{"store":"redis","listen":{"authz":{},"authz":{"port":1}}}');
    expect(found).toEqual({ 'listen.authz': 'is there twice: remove one of them' });
  });

  test.each([
    ['COUNTERSIGN_REDIS_URL', 'redis://u:hunter2@a:1,redis://u:hunter2@b:1'],
    ['COUNTERSIGN_POSTGRES_URL', 'postgres://u:hunter2@a/db,postgres://u:hunter2@b'],
  ])('a password of %s is in no message', async (name, value) => {
    const found = await mistakes({}, { [name]: value });
    expect(found[name]).toMatch(/must (?:be|name)/);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  test.each([
    ['postgres://u:hun/ter2@h/db', /a \/ or # of the password is %2F or %23$/],
    ['postgres://u:hun,ter2@h/db', /; commas are between .* a comma of the password is %2C$/],
    ['postgres://u:hunter2@h/db?connect_timeout=3', /^must have no parameter .* connect_timeout$/],
  ])('COUNTERSIGN_POSTGRES_URL=%s: the message explains the mistake', async (value, words) => {
    const found = await mistakes({}, { COUNTERSIGN_POSTGRES_URL: value });
    expect(found).toEqual({ COUNTERSIGN_POSTGRES_URL: expect.stringMatching(words) });
    expect(JSON.stringify(found)).not.toContain('ter2');
  });

  const POSTGRES = { kind: 'postgres', urls: ['postgres://u@h/db'] };
  test.each([
    [{ urls: [] }, 'urls', 'must have at least 1 entries'],
    [{ urls: ['mysql://u@h/db'] }, 'urls.0', /^must be postgres:\/\/user:/],
    [
      { urls: ['postgres://u:hun/ter2@h/db'] },
      'urls.0',
      /a \/ or # of the password is %2F or %23$/,
    ],
    [{ urls: ['postgres://u:hun%ter2@h/db'] }, 'urls.0', /^must have a % .* as %25/],
    [{ urls: ['postgres://h/db'] }, 'urls.0', /^must name a user and a database/],
    [{ urls: ['postgres://u@h'] }, 'urls.0', /^must name a user and a database/],
    [{ urls: ['postgres://u@h,i/db'] }, 'urls.0', /^must name one server/],
    [
      { urls: ['postgres://u@h/db?options=-csearch_path%3Dpublic'] },
      'urls.0',
      'must have no parameter but sslmode: remove options',
    ],
    [{ urls: ['postgres://u@h/db?sslmode=prefer'] }, 'urls.0', /^must have sslmode disable, /],
    [
      { urls: ['postgres://u@h/db', 'postgres://u@i/db?sslmode=no-verify'], ca: 'ca.pem' },
      'urls.1',
      'has an sslmode without verification: remove it, or store.ca',
    ],
    [{ schema: 'pg_mine' }, 'schema', /^must be a name/],
    [{ schema: 'a'.repeat(46) }, 'schema', /^must be a name of at most 45/],
    [{ schema: 'a,b' }, 'schema', /^must be a name/],
    [{ connections: 3 }, 'connections', 'must be at least 4'],
  ])('PostgreSQL: %j is explained', async (members, path, words) => {
    const found = await mistakes({ store: { ...POSTGRES, ...members } });
    expect(found).toEqual({ [`store.${path}`]: expect.stringMatching(words) });
    expect(JSON.stringify(found)).not.toContain('ter2');
  });

  test('any JSON file gives a configuration or a ConfigError', async () => {
    const members = fc.record(
      Object.fromEntries(
        ['issuer', 'listen', 'store', 'spaces', 'tokens', 'jwks', '__proto__', 'x'].map((name) => [
          name,
          fc.jsonValue(),
        ]),
      ),
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          members.map((value) => JSON.stringify(value)),
        ),
        (text) =>
          load(text).then(
            (config) => expect(config.spaces.length).toBeGreaterThan(0),
            (error: unknown) => expect(error).toBeInstanceOf(ConfigError),
          ),
      ),
      { numRuns: 200 },
    );
  });
});

describe('rules for several members', () => {
  test.each([
    [
      'the place of another space',
      [space(), space({ url: 'http://localhost:3001/a', realm: 'b', alg: 'RS256' })],
      'spaces.1.url',
      /place and audience of spaces.0/,
    ],
    [
      'the place of another space in disguise',
      [space(), space({ url: 'http://localhost:3001/%61/', realm: 'b' })],
      'spaces.1.url',
      /place and audience of spaces.0/,
    ],
    [
      'RFC 9110 section 11.5: the realm of another space',
      [space(), space({ url: 'http://localhost:3001/a/b/' })],
      'spaces.1.realm',
      /realm of spaces.0/,
    ],
    [
      'documents at another origin',
      [space({ url: 'http://localhost:9/a/' })],
      'spaces.0.url',
      /must begin with/,
    ],
    ['a reserved path', [space({ url: 'http://localhost:3001/verify' })], 'spaces.0.url', /itself/],
    [
      'the well-known paths',
      [space({ url: 'http://localhost:3001/.well-known/x/' })],
      'spaces.0.url',
      /itself/,
    ],
    [
      'an encoded slash',
      [space({ url: 'http://localhost:3001/a%2Fb/' })],
      'spaces.0.url',
      /no request/,
    ],
    [
      'an empty segment',
      [space({ url: 'http://localhost:3001/a//b/' })],
      'spaces.0.url',
      /no request/,
    ],
    [
      'a broken escape',
      [space({ url: 'http://localhost:3001/a%zz/' })],
      'spaces.0.url',
      /no request/,
    ],
    [
      'hiding that nobody without credentials could find, with a scheme that tells',
      [space({ hide: 'everything' })],
      'spaces.0.hide',
      /Concealed alone/,
    ],
    [
      'the same with Concealed beside another',
      [space({ hide: 'everything', schemes: ['Concealed', 'Basic'] })],
      'spaces.0.hide',
      /Concealed alone/,
    ],
    [
      'hiding for Concealed where there is no TLS',
      [space({ hide: 'everything', schemes: ['Concealed'] })],
      'spaces.0.hide',
      /needs TLS/,
    ],
    [
      'RFC 9729 section 6.4: hidden spaces of one origin, one of which alone believes a frontend',
      [
        space({ hide: 'everything', schemes: ['Concealed'], concealed: { frontend: true } }),
        space({
          url: 'http://localhost:3001/b/',
          realm: 'b',
          hide: 'everything',
          schemes: ['Concealed'],
        }),
      ],
      'spaces.1.concealed.frontend',
      /differs/,
    ],
    [
      'RFC 9729 section 6.2: a frontend that is believed, and no trusted proxy that could be one',
      [space({ schemes: ['Concealed'], concealed: { frontend: true } })],
      'spaces.0.concealed.frontend',
      /name it in trustedProxies/,
    ],
    [
      'writing that needs less than reading',
      [space({ scopes: { safe: ['r'] } })],
      'spaces.0.scopes',
      /add unsafe/,
    ],
    [
      'keys of one field for two purposes',
      [space({ schemes: ['API-Key'], apiKey: { beside: true } })],
      'spaces.0.apiKey.beside',
      /remove one/,
    ],
    [
      'restrictions that nobody can enforce',
      [space({ gnap: { enforces: ['identifier'] } })],
      'spaces.0.gnap.enforces',
      /verify/,
    ],
    ['GNAP without a server of it', [space({ schemes: ['GNAP'] })], 'spaces.0.schemes', /add gnap/],
    [
      'RFC 7486 section 6: HOBA in clear text',
      [space({ schemes: ['HOBA'] })],
      'spaces.0.schemes',
      /HOBA, which needs TLS/,
    ],
    [
      'PrivateToken without an issuer',
      [space({ schemes: ['PrivateToken'] })],
      'spaces.0.privateToken.issuer',
      /name an issuer/,
    ],
    [
      'RFC 9578 section 5: tokens that only another issuer could verify',
      [space({ schemes: ['PrivateToken'], privateToken: { issuer: 'issuer.example' } })],
      'spaces.0.privateToken.types',
      /blind-rsa-2048 alone/,
    ],
    [
      'a tree of its own for nobody in particular',
      [
        space({
          schemes: ['PrivateToken'],
          privateToken: { issuer: 'issuer.example', types: ['blind-rsa-2048'] },
          tree: 'own',
        }),
      ],
      'spaces.0.tree',
      /does not say whose/,
    ],
    ['no space at all', [], 'spaces', /is empty/],
  ])('%s is refused', async (_, spaces, path, message) => {
    expect((await mistakes({ spaces }))[path]).toMatch(message);
  });

  test('a space with serves: verify may have another origin than `resource`, and the realm of another space', async () => {
    const spaces = [space(), space({ url: 'https://app.example/', serves: 'verify' })];
    expect((await load({ spaces })).spaces).toHaveLength(2);
  });

  test('issuer and resource must have different origins, and two listeners different ports', async () => {
    const found = await mistakes({
      issuer: 'http://localhost:3001',
      listen: { authz: { port: 3001 } },
    });
    expect(found['resource']).toMatch(/another origin/);
    expect(found['listen.resource.port']).toMatch(/another port/);
  });

  test.each(['self', '127.0.0.1:80', '127.0.0.0/8:80', '[::1]:80', '0.0.0.0:80'])(
    'a proxy that leads to %s conflicts with a trusted loopback address',
    async (destination) => {
      const proxy = { destinations: [destination] };
      for (const trustedProxies of [['127.0.0.0/8'], ['::1/128'], ['0.0.0.0/0']]) {
        expect((await mistakes({ proxy, trustedProxies }))['trustedProxies']).toMatch(/loopback/);
      }
      expect(await load({ proxy, trustedProxies: ['10.0.0.0/8'] })).toMatchObject({ proxy });
    },
  );

  test.each(['0.0.0.0', '::'])('Mutual is refused at a proxy that listens on %s', async (host) => {
    const listen = { proxy: { host } };
    const found = await mistakes({ proxy: { schemes: ['Mutual', 'Digest'] }, listen });
    expect(found['listen.proxy.host']).toMatch(/name that host/);
  });

  test('with a trusted loopback address the default configuration has no proxy, and a proxy to other machines is allowed', async () => {
    const trustedProxies = ['127.0.0.1/32'];
    expect((await load({ trustedProxies })).proxy).toBeUndefined();
    const proxy = { destinations: ['public:443', '10.0.0.1:80', 'example.com:443'] };
    expect(await load({ proxy, trustedProxies })).toMatchObject({ proxy });
  });

  test('sessions and refresh tokens must not live longer than people.grant', async () => {
    const found = await mistakes({
      people: { grant: 3600, session: 3601 },
      tokens: { refresh: 3602 },
    });
    expect(Object.keys(found).toSorted()).toEqual(['people.session', 'tokens.refresh']);
    expect(found['people.session']).toMatch(/at most people.grant \(3600\)/);
    const limits = { people: { grant: 3600, session: 3600 }, tokens: { refresh: 3600 } };
    expect((await load(limits)).people.session).toBe(3600);
  });

  test.each(['http://localhost:3001', 'https://localhost:3443', 'http://issuer.example'])(
    'a token issuer at %s is refused',
    async (issuer) => {
      const found = await mistakes({ privateTokens: { issuer } });
      expect(found['privateTokens.issuer']).toMatch(/origin/);
    },
  );

  test('an internal URL of the token issuer needs an issuer at the same origin', async () => {
    const url = 'http://loadbalancer:8080';
    const found = await mistakes({ privateTokens: { url } });
    expect(found).toEqual({
      'privateTokens.url': expect.stringContaining('at the origin of `issuer`'),
    });
    const issuer = 'https://localhost:3444';
    const config = await load({ issuer, privateTokens: { issuer, url } });
    expect(config.privateTokens).toMatchObject({ issuer, url });
  });

  test.each(['loadbalancer', 'http://loadbalancer:8080/', 'ftp://loadbalancer'])(
    '%s is refused as an internal origin',
    async (url) => {
      const found = await mistakes({ issuer: 'https://localhost:3444', privateTokens: { url } });
      expect(found['privateTokens.url']).toMatch(/origin/);
    },
  );

  test('a token issuer needs both files or neither, and its keys must live as long as the directory is cached', async () => {
    const privateTokens = { key: 'k', rotation: 10, maxAge: 11, overlap: 201 };
    const found = await mistakes({ privateTokens });
    expect(found['privateTokens']).toMatch(/certificate and key/);
    expect(found['privateTokens.rotation']).toMatch(/at least maxAge \(11\)/);
    expect(found['privateTokens.overlap']).toMatch(/at most 20 rotations/);
  });

  test.each(['issuer.example', 'issuer.example:8443', '[::1]:8443'])(
    'RFC 9577 section 2.1.1.1: %s is accepted as a server name',
    async (issuer) => {
      const privateToken = { issuer, types: ['blind-rsa-2048'] };
      const spaces = [space({ schemes: ['PrivateToken'], privateToken })];
      expect((await load({ spaces })).spaces[0]?.privateToken.issuer).toBe(issuer);
    },
  );

  test.each(['user@issuer.example', 'issuer.example/', 'issuer.example:443', 'ISSUER.example', ''])(
    'RFC 9577 section 2.1.1.1: %j is refused as a server name',
    async (issuer) => {
      const privateToken = { issuer, types: ['blind-rsa-2048'] };
      const spaces = [space({ schemes: ['PrivateToken'], privateToken })];
      const found = await mistakes({ spaces });
      expect(found['spaces.0.privateToken.issuer']).toMatch(/server name/);
    },
  );

  test('port 0 of a listener lets the system choose a port, and never conflicts with another listener', async () => {
    const listen = { authz: { port: 0 }, resource: { port: 0 } };
    expect((await load({ listen })).listen.resource.port).toBe(0);
  });

  test('an overlap shorter than maxAge + cooldown is refused, because valid tokens would be refused', async () => {
    const jwks = { maxAge: 100, cooldown: 10, overlap: 109 };
    expect((await mistakes({ jwks }))['jwks.overlap']).toMatch(/at least .* \(110\)/);
    expect((await load({ jwks: { ...jwks, overlap: 110 } })).jwks.overlap).toBe(110);
  });
});

describe('a space that serves an application', () => {
  const upstream = (members: object = {}, more: object = {}) => ({
    spaces: [
      space({
        serves: 'upstream',
        upstream: { url: 'http://127.0.0.1:8080/a/', ...members },
        ...more,
      }),
    ],
  });

  test.each([
    ['without saying which', { spaces: [space({ serves: 'upstream' })] }, 'spaces.0.upstream'],
    ['that does not serve it', upstream({}, { serves: 'documents' }), 'spaces.0.upstream'],
    ['at url and urls', upstream({ urls: ['http://127.0.0.1/'] }), 'spaces.0.upstream'],
    [
      'at different paths',
      upstream({ url: undefined, urls: ['http://a/b', 'http://a/c'] }),
      'spaces.0.upstream.urls',
    ],
    [
      'without schemes, with scopes',
      upstream({}, { schemes: [], scopes: { unsafe: ['a'] } }),
      'spaces.0.schemes',
    ],
    [
      'without schemes, with keys',
      upstream({}, { schemes: [], apiKey: { beside: true } }),
      'spaces.0.schemes',
    ],
    [
      'without schemes, hidden',
      upstream({}, { schemes: [], hide: 'forbidden' }),
      'spaces.0.schemes',
    ],
    ['documents without schemes', { spaces: [space({ schemes: [] })] }, 'spaces.0.schemes'],
    ['with TRACE', upstream({}, { methods: ['GET', 'TRACE'] }), 'spaces.0.methods'],
    ['with a tunnel', upstream({}, { methods: ['CONNECT'] }), 'spaces.0.methods'],
    ['with a method in lower case', upstream({}, { methods: ['get'] }), 'spaces.0.methods.0'],
    ['documents with BAN', { spaces: [space({ methods: ['BAN'] })] }, 'spaces.0.methods'],
    [
      'told of Concealed, which is asked for here',
      upstream({ concealedExport: true }),
      'spaces.0.upstream.concealedExport',
    ],
    [
      'told of TLS that does not end here',
      upstream({ concealedExport: true }, { schemes: [] }),
      'spaces.0.upstream.concealedExport',
    ],
  ])('%s: the space is refused', async (_, content, path) => {
    expect(await mistakes(content)).toHaveProperty([path]);
  });

  test.each([
    ['any method in upper case', upstream({}, { methods: ['GET', 'BAN', 'X-FOO'] })],
    ['no scheme at all', upstream({}, { schemes: [] })],
    ['told of Concealed', { tls: {}, ...upstream({ concealedExport: true }, { schemes: [] }) }],
    ['at two places', upstream({ url: undefined, urls: ['http://a/b/', 'http://c/b/'] })],
  ])('%s can be used', async (_, content) => {
    await expect(load(content)).resolves.toHaveProperty('spaces');
  });
});
