import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { observatoryScore } from '#shared/server/observatory.fixture.ts';
import { startWorld, type World } from './world.fixture.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test.each([
  ['GET', '/'],
  ['GET', '/.well-known/oauth-protected-resource/documents/'],
  ['GET', '/documents/'],
  ['GET', '/nowhere'],
  ['PURGE', '/documents/'],
  ['OPTIONS', '*'],
  ['GET', '/health/ready'],
])('MDN HTTP Observatory: %s %s is A+', async (method, path) => {
  const { headers } = await world.ask(method, path);
  expect(observatoryScore(headers)).toBeGreaterThanOrEqual(100);
});

test.each(['/documents/', '/documents/a', '/documents/missing'])(
  'with credentials as well, %s is not guessed at and not asked for in clear text',
  async (path) => {
    await world.as('PUT', '/documents/a', { body: 'a' });
    expect((await world.as('GET', path)).headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=31536000',
    });
  },
);

test('RFC 6797: what a proxy is told goes on to clients of another origin, and says nothing of it', async () => {
  for (const headers of [{}, { 'X-Forwarded-Host': 'app.example' }]) {
    const reply = await world.ask('GET', '/verify', { headers });
    expect(reply.headers['strict-transport-security']).toBeUndefined();
  }
});
