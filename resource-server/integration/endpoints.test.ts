import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { endpointTable } from '#shared/server/endpoints/endpoint-table.fixture.ts';
import { spaceAt } from './spaces-under-test.fixture.ts';
import { PAGES, startResourceServer } from './resource-server.fixture.ts';

const ORIGINS = { none: 'none', listed: PAGES, stranger: 'https://evil.example', null: 'null' };
const SPACES = [
  spaceAt('documents'),
  spaceAt('trusting', { cors: { origins: [PAGES], credentials: true } }),
  spaceAt('closed', { cors: { origins: [] } }),
  spaceAt('hidden', { hide: 'forbidden' }),
  spaceAt('who', { serves: 'identity' }),
  // No application listens here: the table must not depend on an application.
  spaceAt('behind', { serves: 'upstream', upstream: { url: 'http://127.0.0.1:9/' } }),
  spaceAt('inside', { serves: 'upstream', upstream: { url: 'http://127.0.0.1:9/' }, signIn: true }),
];

test('each method at each address, from every origin, is answered as endpoints.txt says', async () => {
  await using rs = await startResourceServer({ spaces: SPACES, playground: true });
  const token = (name: string) => ({
    Authorization: `Bearer ${rs.token(`${name}:read ${name}:write`)}`,
  });
  const callers = (name: string) => ({ nobody: {}, 'a client': token(name) });
  const table = await endpointTable(rs.listening.port, ORIGINS, [
    { path: '*' },
    { path: '/' },
    { path: '/health/live' },
    { path: '/health/ready' },
    { path: '/schemes' },
    { path: '/schemes/' },
    { path: '/playground/basic' },
    { path: '/playground/explain' },
    { path: '/verify' },
    { path: '/verify/browser' },
    { path: '/.countersign/callback' },
    { path: '/.countersign/sign-out' },
    { path: '/.countersign/nowhere' },
    { path: '/.well-known/oauth-protected-resource/documents/' },
    { path: '/.well-known/oauth-protected-resource/nowhere' },
    { path: '/.well-known/countersign-gateway/jwks' },
    { path: '/nowhere' },
    { path: '/a%2Fb' },
    { path: '/documents/', callers: callers('documents') },
    { path: '/trusting/', callers: callers('trusting') },
    { path: '/closed/', callers: callers('closed') },
    { path: '/hidden/', callers: callers('hidden') },
    { path: '/who/', callers: callers('who') },
    { path: '/who/nowhere', callers: callers('who') },
  ]);
  expect(table).toBe(await readFile(new URL('../endpoints.txt', import.meta.url), 'utf8'));
});
