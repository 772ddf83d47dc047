import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from '@jest/globals';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { ask as asking, bearer, issuerAndGuard, RESOURCE } from './guard.fixture.ts';
import type { Guarded, NodeMiddleware } from './frameworks.ts';

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());

/** Starts a server of node:http that answers with the caller; `mount`: the path that a router has removed. */
async function serve(guarded: NodeMiddleware, mount = '') {
  const server = createServer((asked: IncomingMessage & Partial<Guarded>, response) => {
    Object.assign(asked, { originalUrl: asked.url, url: asked.url?.slice(mount.length) });
    guarded(asked, response, () => response.end(asked.auth?.kind));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  parts.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return async (
    headers: Record<string, string | string[]> = {},
    path = '/v1/notes',
    method = 'GET',
  ) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ port, path, method, headers }, resolve).on('error', reject).end();
    });
    return { status: answer.statusCode, lines: answer.headersDistinct, body: await text(answer) };
  };
}

describe('node:http', () => {
  test('RFC 9110 section 11.6.1: one line for each challenge', async () => {
    const ask = await serve(issuerAndGuard().protect().node());
    const { status, lines, body } = await ask();
    expect(status).toBe(401);
    expect(lines['www-authenticate']).toEqual([
      expect.stringMatching(/^Bearer /),
      expect.stringMatching(/^DPoP /),
    ]);
    expect(JSON.parse(body)).toMatchObject({ status: 401 });
    expect(await ask({}, '/v1/notes', 'HEAD')).toMatchObject({ status: 401, body: '' });
  });

  test('RFC 9449 section 4.3: htu is the URL before a router changed it, and two proofs are refused', async () => {
    const { protect, token, now } = issuerAndGuard();
    const ask = await serve(protect().node(), '/v1');
    const client = prover(now);
    const bound = token({ cnf: { jkt: client.jkt } });
    const prove = (htu: string) => client.proof(bound, { htu });
    const send = (dpop: string | string[]) => ask({ authorization: `DPoP ${bound}`, dpop });
    expect(await send(prove(`${RESOURCE}notes`))).toMatchObject({
      status: 200,
      body: 'application',
    });
    expect(await send(prove('https://api.example/notes'))).toMatchObject({ status: 401 });
    const two = [prove(`${RESOURCE}notes`), prove(`${RESOURCE}notes`)];
    expect(await send(two)).toMatchObject({ status: 400 });
  });

  test('RFC 9728 section 3.1: the metadata is served for any query, by GET and HEAD only', async () => {
    const guard = issuerAndGuard().protect();
    const ask = await serve(guard.node());
    const at = guard.metadataPath;
    for (const path of [at, `${at}?x=/`]) {
      const { status, body } = await ask({}, path);
      expect([status, JSON.parse(body)]).toEqual([200, await guard.metadata().json()]);
    }
    expect(await ask({}, at, 'HEAD')).toMatchObject({ status: 200, body: '' });
    for (const [path, method] of [
      [at, 'POST'],
      [`${at}x`, 'GET'],
      [`/v1${at}`, 'GET'],
      [`/v1/notes?${at}`, 'GET'],
    ] as const) {
      expect(await ask({}, path, method)).toMatchObject({ status: 401 });
    }
  });

  test('an application that answered while the guard asked the issuer keeps its answer', async () => {
    const { protect, token } = issuerAndGuard();
    for (const claims of [{}, { aud: 'https://other.example/' }]) {
      const guard = protect();
      let went = 'nowhere';
      const response = {
        statusCode: 503,
        headersSent: true,
        setHeader: () => (went = 'on'),
        end: () => (went = 'on'),
      };
      const rawHeaders = ['Authorization', `Bearer ${token(claims)}`];
      guard.node()({ url: '/v1/notes', rawHeaders }, response, () => (went = 'on'));
      await guard.judge(asking(bearer(token(claims)))); // this request waits for the same answer of the issuer
      await new Promise(setImmediate);
      expect([went, response.statusCode]).toEqual(['nowhere', 503]);
    }
  });

  test('Fetch, CORS protocol: a preflight is anonymous', async () => {
    const ask = await serve(issuerAndGuard().protect().node());
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'PUT' };
    expect(await ask(preflight, '/v1/notes', 'OPTIONS')).toMatchObject({ body: 'anonymous' });
  });
});
