import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { temporaryFolder } from '../../../parts/temporary-folder.ts';
import type { Server } from '../../cpu.ts';
import { openFolder } from '../open-folder.ts';
import { startApacheVerdicts } from './apache.ts';
import { startHaproxyVerdicts } from './haproxy.ts';

const NOW = Math.floor(Date.now() / 1000);
const [KEY, OTHER] = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const CLAIMS = {
  iss: 'https://as.example',
  aud: 'https://rs.example/documents/',
  sub: 'alice',
  scope: 'other documents:read',
  exp: NOW + 600,
};
const PATH = '/documents/small';

let stack: AsyncDisposableStack;
const servers: Record<string, Server> = {};

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const { path: parent } = stack.use(await temporaryFolder());
  const peer = async (name: string) => ({
    key: KEY!.publicKey.export({ format: 'jwk' }),
    issuer: CLAIMS.iss,
    audience: CLAIMS.aud,
    scope: 'documents:read',
    folder: await openFolder(parent, name),
  });
  servers['haproxy'] = stack.use(await startHaproxyVerdicts(await peer('haproxy')));
  const document = { path: PATH, body: 'inside' };
  servers['apache2'] = stack.use(
    await startApacheVerdicts({ ...(await peer('apache')), ...document }),
  );
});
afterAll(() => stack?.disposeAsync());

async function status(name: string, claims: object, { privateKey } = KEY!) {
  const jwt = new SignJWT({ ...CLAIMS, ...claims }).setProtectedHeader({ alg: 'ES256' });
  const headers = { Authorization: `Bearer ${await jwt.sign(privateKey)}` };
  return (await fetch(servers[name]!.url + PATH, { headers })).status;
}

test.each([
  ['haproxy', 204],
  ['apache2', 200],
])('%s admits a valid token, and refuses every other token', async (name, good) => {
  expect(await status(name, {})).toBe(good);
  expect({
    'of another key': await status(name, {}, OTHER),
    expired: await status(name, { exp: NOW - 600 }),
    'of another issuer': await status(name, { iss: 'https://other.example' }),
    'for another API': await status(name, { aud: 'https://other.example/' }),
    'of another scope': await status(name, { scope: 'documents:reader' }),
    none: (await fetch(servers[name]!.url + PATH)).status,
  }).toEqual({
    'of another key': 401,
    expired: 401,
    'of another issuer': 401,
    'for another API': 401,
    'of another scope': 401,
    none: 401,
  });
});
