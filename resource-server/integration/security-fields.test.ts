import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { observatoryScore } from '#shared/server/front-door/observatory.fixture.ts';
import { startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

test.each([
  ['GET', '/'],
  ['GET', '/.well-known/oauth-protected-resource/documents/'],
  ['GET', '/documents/'],
  ['GET', '/nowhere'],
  ['PURGE', '/documents/'],
  ['OPTIONS', '*'],
  ['GET', '/health/ready'],
])('MDN HTTP Observatory: %s %s scores A+', async (method, path) => {
  const { headers } = await rs.ask(method, path);
  expect(observatoryScore(headers)).toBeGreaterThanOrEqual(100);
});

test.each(['/documents/', '/documents/a', '/documents/missing'])(
  'with credentials, too, %s gets fields against type guessing and clear text',
  async (path) => {
    await rs.as('PUT', '/documents/a', { body: 'a' });
    expect((await rs.as('GET', path)).headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=31536000',
    });
  },
);

test('RFC 6797: answers of /verify have no HSTS, since a proxy hands them to clients of another origin', async () => {
  for (const headers of [{}, { 'X-Forwarded-Host': 'app.example' }]) {
    const reply = await rs.ask('GET', '/verify', { headers });
    expect(reply.headers['strict-transport-security']).toBeUndefined();
  }
});
