import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { loadConfig } from './load.ts';
import { SERVERS } from './server-name.ts';
import { startMistakes } from './start-mistakes.ts';

/** A self-signed certificate for a discarded Ed25519 key. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIHSMIGFAhRRn4i/Qi+EPdWJEE7l2T7veN7ZiDAFBgMrZXAwDDEKMAgGA1UEAwwB
ZjAeFw0yNjExMjIwOTIzMThaFw0yNjEyMjIwOTIzMThaMAwxCjAIBgNVBAMMAWYw
KjAFBgMrZXADIQDbPnL3DspTNeNdk3+QG1kbQe4UNWTZQDFUqlVDnhLG3TAFBgMr
ZXADQQB0Erl0JiNi7Ci8b/Ko+J5f1i8yOEDuLD3DXDfyFoJA4F1exnh5fQD9dA4u
6Yemt3C2ichbi5V+y0HRnu2P9xQB
-----END CERTIFICATE-----
`;

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  const { privateKey } = generateKeyPairSync('ed25519');
  await writeFile(join(folder, 'cert.pem'), CERTIFICATE);
  await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(folder, 'text'), 'neither a certificate nor a key');
  await writeFile(join(folder, 'short'), 'short', { mode: 0o600 });
});

const FILE = { COUNTERSIGN_DATA: 'data' };

/**
 * Returns the mistakes that prevent a start of these servers with this file, as a record from path to
 * message.
 */
async function mistakes(content: object, env: NodeJS.ProcessEnv = FILE, servers = SERVERS.slice()) {
  const file = join(folder, 'countersign.json');
  await writeFile(file, JSON.stringify(content));
  const all = { COUNTERSIGN_CONFIG: file, ...env };
  const found = await startMistakes(await loadConfig(all), all, servers);
  return Object.fromEntries(found.map(({ path, message }) => [path, message]));
}

const mutual = (certificate: string) => ({
  spaces: [
    {
      url: 'http://localhost:3001/a/',
      realm: 'a',
      schemes: ['Mutual'],
      mutual: { certificate },
    },
  ],
});

const app = (ca: string) => ({
  spaces: [
    {
      url: 'http://localhost:3001/a/',
      realm: 'a',
      schemes: [],
      serves: 'upstream',
      upstream: { url: 'https://localhost:9/', tls: { ca } },
    },
  ],
});

const proxyTls = { realm: 'p', schemes: ['Basic'], destinations: ['self'] };

test.each<[what: string, content: object, path: string, message: string]>([
  ['a logo', { brand: { logo: 'no.svg' } }, 'brand.logo', 'no.svg, which cannot be read (ENOENT)'],
  [
    'a keytab that is a folder',
    { negotiate: { keytab: '.', service: 'HTTP@localhost' } },
    'negotiate.keytab',
    '(EISDIR)',
  ],
  [
    'a certificate of the resource server',
    { tls: { certificate: 'no.pem', key: 'key.pem' } },
    'tls.certificate',
    'no.pem, which cannot be read (ENOENT)',
  ],
  [
    'a key that is a certificate',
    { tls: { certificate: 'cert.pem', key: 'cert.pem' } },
    'tls.key',
    'in which no private key can be read',
  ],
  [
    'a key of another certificate',
    { tls: { certificate: 'cert.pem', key: 'key.pem' } },
    'tls.key',
    'which is not the key of',
  ],
  [
    'a certificate of the proxy',
    { proxy: { ...proxyTls, tls: { certificate: 'text', key: 'key.pem' } } },
    'proxy.tls.certificate',
    'in which no certificate can be read',
  ],
  [
    'a certificate of the token issuer',
    { privateTokens: { certificate: 'text', key: 'key.pem' } },
    'privateTokens.certificate',
    'in which no certificate can be read',
  ],
  ['a certificate of a space', mutual('no.pem'), 'spaces.0.mutual.certificate', '(ENOENT)'],
  ['an authority of an application', app('text'), 'spaces.0.upstream.tls.ca', 'no certificate'],
])(
  'a file that prevents a start is named by its setting: %s',
  async (_, content, path, message) => {
    const found = await mistakes(content);
    expect(Object.keys(found)).toEqual([path]);
    expect(found[path]).toContain(message);
  },
);

test.each<[what: string, data: () => string, message: string]>([
  ['a file', () => join(folder, 'text'), 'which is a file: name a folder'],
  ['within a file', () => join(folder, 'text/data'), 'is within a file'],
])('an impossible data folder is named: %s', async (_, data, message) => {
  const found = await mistakes({}, { COUNTERSIGN_DATA: data() });
  expect(found['COUNTERSIGN_DATA']).toContain(message);
});

test('a missing data folder is created by the start, not by the check', async () => {
  const data = join(folder, 'not/yet/there');
  expect(await mistakes({}, { COUNTERSIGN_DATA: data })).toEqual({});
  expect(await readdir(folder)).not.toContain('not');
});

test.each<[what: string, env: () => NodeJS.ProcessEnv, path: string, message: string]>([
  ['too short', () => ({ COUNTERSIGN_SECRET: 'x' }), 'COUNTERSIGN_SECRET', 'shorter than 32'],
  [
    'in a missing file',
    () => ({ COUNTERSIGN_SECRET_FILE: join(folder, 'no') }),
    'COUNTERSIGN_SECRET_FILE',
    'ENOENT',
  ],
  [
    'too short in a file',
    () => ({ COUNTERSIGN_SECRET_FILE: join(folder, 'short') }),
    'COUNTERSIGN_SECRET_FILE',
    'shorter than 32',
  ],
])('an unusable master secret is named: %s', async (_, env, path, message) => {
  const found = await mistakes({}, { ...FILE, ...env() });
  expect(found[path]).toContain(message);
});

test('the secret in the data folder is checked if it exists', async () => {
  const data = join(folder, 'own');
  await mkdir(data);
  await writeFile(join(data, 'secret'), 'too short', { mode: 0o600 });
  expect((await mistakes({ data }, {}))['data']).toContain('shorter than 32');
  await chmod(join(data, 'secret'), 0o644);
  expect((await mistakes({ data }, {}))['data']).toContain('open to others');
});

test('a server needs no files that only the other server opens', async () => {
  const content = { privateTokens: { certificate: 'no', key: 'no' }, ...mutual('no') };
  const keys = async (server: (typeof SERVERS)[number]) =>
    Object.keys(await mistakes(content, FILE, [server]));
  expect(await keys('authz')).toEqual(['privateTokens.certificate', 'privateTokens.key']);
  expect(await keys('resource')).toEqual(['spaces.0.mutual.certificate']);
});
