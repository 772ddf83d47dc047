import { spawnSync } from 'node:child_process';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { OVERRIDES, serviceLinks } from './environment.ts';
import { loadConfig } from './load.ts';
import { listenerOf } from './local-origin.ts';
import { loadPairConfig } from './pair-config.ts';
import { isProduction } from './production.ts';
import { SETTING_VARIABLES } from './variables.ts';

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

/** Returns the path of a new file with this content. */
async function fileOf(name: string, content: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

/** Returns what is wrong with these variables, by path. */
async function mistakes(env: NodeJS.ProcessEnv): Promise<Readonly<Record<string, string>>> {
  const error = await loadConfig(env).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) return {};
  return Object.fromEntries(error.mistakes.map(({ path, message }) => [path, message]));
}

test('no two settings have the same variable, and no variable equals another with _FILE', () => {
  const names = [...SETTING_VARIABLES.keys(), ...Object.keys(OVERRIDES)];
  expect(names.length).toBeGreaterThan(150);
  const more = names.map((name) => `${name}_FILE`);
  expect(new Set([...names, ...more]).size).toBe(2 * names.length);
  const paths = [...SETTING_VARIABLES.values()].map(({ path }) => path.join('.'));
  for (const path of [
    'issuer',
    'people.passkeys.rpId',
    'store.redis.urls',
    'spaces',
    'mail.port',
  ]) {
    expect(paths).toContain(path);
  }
});

test('a variable sets a setting of any kind, and prevails over the file', async () => {
  const file = await fileOf('c.json', JSON.stringify({ tokens: { lifetime: 60, skew: 9 } }));
  const config = await loadConfig({
    COUNTERSIGN_CONFIG: file,
    COUNTERSIGN_TOKENS_LIFETIME: '300',
    COUNTERSIGN_TOKENS_NONCE: 'true',
    COUNTERSIGN_TRUSTED_PROXIES: '["10.0.0.0/8"]',
    COUNTERSIGN_PEOPLE_PASSKEYS_RP_ID: 'localhost',
    COUNTERSIGN_CLIENTS_DOCUMENTS: 'off',
    COUNTERSIGN_PEOPLE_SECOND_FACTOR: '{"required": ["staff"]}',
    COUNTERSIGN_LIMITS_ADDRESS: '{"burst": 5, "per": 1}',
    COUNTERSIGN_LIMITS_ADDRESS_BURST: '7',
    COUNTERSIGN_SPACES: '[{"url": "http://localhost:3001/a/", "realm": "a", "schemes": ["Basic"]}]',
  });
  expect(config).toMatchObject({
    tokens: { lifetime: 300, skew: 9, nonce: true },
    trustedProxies: ['10.0.0.0/8'],
    people: { passkeys: { rpId: 'localhost' }, secondFactor: { required: ['staff'] } },
    clients: { documents: 'off' },
    limits: { address: { burst: 7, per: 1 } },
    spaces: [{ realm: 'a' }],
  });
});

test('a _FILE variable names a file with the value; the last line end of the file is ignored', async () => {
  const config = await loadConfig({
    COUNTERSIGN_ISSUER_FILE: await fileOf('issuer', 'http://localhost:22100\n'),
    COUNTERSIGN_TOKENS_LIFETIME_FILE: await fileOf('lifetime', '300\r\n'),
    COUNTERSIGN_POSTGRES_URL_FILE: await fileOf('url', 'postgres://u:p@a/db\n'),
  });
  expect(config).toMatchObject({
    issuer: 'http://localhost:22100',
    tokens: { lifetime: 300 },
    store: { kind: 'postgres', urls: ['postgres://u:p@a/db'] },
  });
});

test('COUNTERSIGN_MAIL_PASSWORD_FILE is the setting mail.passwordFile', async () => {
  const mail = { COUNTERSIGN_MAIL_HOST: 'mail.example', COUNTERSIGN_MAIL_FROM: 'a@mail.example' };
  const config = await loadConfig({
    ...mail,
    COUNTERSIGN_MAIL_USER: 'a',
    COUNTERSIGN_MAIL_PASSWORD_FILE: '/p',
  });
  expect(config.mail).toMatchObject({ host: 'mail.example', passwordFile: '/p' });
});

test.each<[what: string, file: () => Promise<string>, message: RegExp]>([
  ['missing', async () => join(folder, 'nowhere'), /^cannot read the file \(ENOENT\): correct/],
  ['a folder', async () => folder, /is no regular file/],
  ['a device', async () => '/dev/zero', /is no regular file/],
  ['a pipe without a writer', () => pipe(), /is no regular file/],
  ['empty', () => fileOf('empty', '\n'), /empty is empty: write the value into it/],
  ['1 GiB long', () => huge(), /has more than 1048576 bytes/],
])(
  'a file of _FILE that is %s is refused by the name of its variable',
  async (_, file, message) => {
    for (const name of ['COUNTERSIGN_ISSUER_FILE', 'COUNTERSIGN_REDIS_URL_FILE']) {
      expect(await mistakes({ [name]: await file() })).toEqual({
        [name]: expect.stringMatching(message),
      });
    }
  },
);

async function huge(): Promise<string> {
  const file = await fileOf('huge', '');
  await truncate(file, 1024 ** 3);
  return file;
}

async function pipe(): Promise<string> {
  await mkdir(join(folder, 'pipes'), { recursive: true });
  const path = join(folder, 'pipes/one');
  spawnSync('mkfifo', [path]);
  return path;
}

test.each<[env: NodeJS.ProcessEnv, path: string, message: RegExp]>([
  [{ COUNTERSIGN_ISSUER: 'a\nb' }, 'COUNTERSIGN_ISSUER', /^must be/],
  [{ COUNTERSIGN_TOKENS_LIFETIME: 'long' }, 'COUNTERSIGN_TOKENS_LIFETIME', /must be a number/],
  [{ COUNTERSIGN_TOKENS_LIFETIME: '-1' }, 'COUNTERSIGN_TOKENS_LIFETIME', /must be at least 10/],
  [{ COUNTERSIGN_TRUSTED_PROXIES: '10.0.0.1' }, 'COUNTERSIGN_TRUSTED_PROXIES', /^is not JSON/],
  [{ COUNTERSIGN_TRUSTED_PROXIES: '["x"]' }, 'COUNTERSIGN_TRUSTED_PROXIES.0', /^must be/],
  [{ COUNTERSIGN_SPACES: '[{"url":1,"url":2}]' }, 'COUNTERSIGN_SPACES.0.url', /is there twice/],
  [{ COUNTERSIGN_TOKENS: '{"skwe": 1}' }, 'COUNTERSIGN_TOKENS.skwe', /^is not a setting/],
])('%j is refused by the name of the variable', async (env, path, message) => {
  expect(await mistakes(env)).toEqual({ [path]: expect.stringMatching(message) });
});

test('a secret that somebody wrote into a _FILE variable is not printed', async () => {
  for (const value of ['postgres://u:SEKRET@h/db', `SEKRET${'x'.repeat(5000)}`]) {
    await expect(loadConfig({ COUNTERSIGN_POSTGRES_URL_FILE: value })).rejects.toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('SEKRET') }),
    );
  }
});

test('an empty variable is ignored, also at the start of a pair and when its _FILE is set', async () => {
  const env = {
    COUNTERSIGN_ISSUER: 'https://auth.example',
    COUNTERSIGN_RESOURCE: 'https://api.example',
    COUNTERSIGN_SECRET_FILE: await fileOf('master', 's'.repeat(44)),
  };
  const empty = { ...env, COUNTERSIGN_SECRET: '', COUNTERSIGN_AUTHZ_URL: '' };
  const config = await loadPairConfig(empty);
  expect(config).toEqual(await loadPairConfig(env));
  expect(config.jwks.url).toBe('http://127.0.0.1:3000/jwks');
});

test('a variable that is set together with its _FILE is refused', async () => {
  const env = { COUNTERSIGN_ISSUER: 'http://localhost:3000', COUNTERSIGN_ISSUER_FILE: '/x' };
  expect(await mistakes(env)).toEqual({
    COUNTERSIGN_ISSUER: 'is set beside COUNTERSIGN_ISSUER_FILE: keep one of them',
  });
});

test.each([
  ['COUNTERSIGN_REDIS', 'redis://x', 'did you mean COUNTERSIGN_REDIS_URL?'],
  ['COUNTERSIGN_TRUSTED_PROXY', '[]', 'did you mean COUNTERSIGN_TRUSTED_PROXIES?'],
  ['COUNTERSIGN_ISUER', 'http://x', 'did you mean COUNTERSIGN_ISSUER?'],
  ['COUNTERSIGN_ISUER_FILE', '/x', 'did you mean COUNTERSIGN_ISSUER_FILE?'],
  ['COUNTERSIGN_CONFIG_FILE', '/x', 'did you mean COUNTERSIGN_CONFIG?'],
  ['COUNTERSIGN_PORT', '3000', 'remove it, or '],
])('%s is refused, since nothing reads it', async (name, value, words) => {
  expect(await mistakes({ [name]: value })).toEqual({
    [name]: expect.stringMatching(/^is a variable that nothing reads: remove it, or /),
  });
  expect((await mistakes({ [name]: value }))[name]).toContain(words);
});

test('variables that Kubernetes sets for services are ignored, and servers start', async () => {
  const links = {
    COUNTERSIGN_SERVICE_HOST: '10.0.0.1',
    COUNTERSIGN_SERVICE_PORT: '3000',
    COUNTERSIGN_SERVICE_PORT_HTTP: '3000',
    COUNTERSIGN_PORT: 'tcp://10.0.0.1:3000',
    COUNTERSIGN_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
    COUNTERSIGN_PORT_3000_TCP_ADDR: '10.0.0.1',
    // Services that are called countersign-mail and countersign-listen-authz have these.
    COUNTERSIGN_MAIL_PORT: 'tcp://10.0.0.2:25',
    COUNTERSIGN_LISTEN_AUTHZ_PORT: 'tcp://10.0.0.3:1',
  };
  expect(await loadConfig(links)).toEqual(await loadConfig({}));
  expect(serviceLinks(links).map(({ path }) => path)).toEqual(Object.keys(links));
  expect(serviceLinks({ COUNTERSIGN_MAIL_PORT: '25', SOME_PORT: 'tcp://x' })).toEqual([]);
});

test('COUNTERSIGN_LISTEN is the host of listeners without a host, and does not turn production on', async () => {
  const inImage = await loadConfig({ COUNTERSIGN_LISTEN: '0.0.0.0' });
  expect(listenerOf(inImage, 'authz')).toEqual({ host: '0.0.0.0', port: 3000 });
  expect(listenerOf(inImage, 'resource')).toEqual({ host: '0.0.0.0', port: 3001 });
  expect(inImage.listen.proxy).toMatchObject({ host: '127.0.0.1' });
  expect(isProduction(inImage)).toBe(false);
  const file = await fileOf('l.json', JSON.stringify({ listen: { authz: { host: '127.0.0.2' } } }));
  const own = await loadConfig({ COUNTERSIGN_CONFIG: file, COUNTERSIGN_LISTEN: '0.0.0.0' });
  const hosts = (['authz', 'resource'] as const).map((name) => listenerOf(own, name).host);
  expect(hosts).toEqual(['127.0.0.2', '0.0.0.0']);
  const found = await mistakes({
    COUNTERSIGN_LISTEN: '0.0.0.0',
    COUNTERSIGN_ISSUER: 'http://auth.example',
  });
  expect(Object.keys(found)).toEqual(['COUNTERSIGN_ISSUER', 'resource', 'COUNTERSIGN_SECRET']);
});

test('a variable does not hide a value of the file that should be an object', async () => {
  const content = { store: 'sqlite', clients: { documents: 'off' }, people: null };
  const found = await mistakes({
    COUNTERSIGN_CONFIG: await fileOf('no-object.json', JSON.stringify(content)),
    COUNTERSIGN_STORE_KIND: 'sqlite',
    COUNTERSIGN_CLIENTS_DOCUMENTS_HOSTS: '["app.example"]',
    COUNTERSIGN_PEOPLE_SESSION: '3600',
  });
  const inTheWay = (path: string) => expect.stringContaining(`since ${path} is no object`);
  expect(found).toEqual({
    COUNTERSIGN_STORE_KIND: inTheWay('store'),
    COUNTERSIGN_CLIENTS_DOCUMENTS_HOSTS: inTheWay('clients.documents'),
    COUNTERSIGN_PEOPLE_SESSION: inTheWay('people'),
    store: expect.anything(),
    people: expect.anything(),
  });
});
