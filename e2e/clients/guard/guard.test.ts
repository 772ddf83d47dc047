/** @countersign/resource as installed, in applications of each framework, with the running pair. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DpopProver, dpopProver } from '../../setup/dpop-prover.ts';
import { type Pair, startPair } from '../../pair/pair.ts';
import { freePort } from '../../parts/free-port.ts';
import { EVERY_NODE } from '../../parts/older-nodes.ts';
import { NODE, startProcess } from '../../parts/process.ts';
import { rawHttp, statusOf } from '../../parts/raw-http.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { copyExample, installResource } from './install.ts';

/** The public URL. The applications listen elsewhere, as behind a proxy. */
const RESOURCE = 'https://api.example/v1/';
const METADATA = '/.well-known/oauth-protected-resource/v1/';
const FRAMEWORKS = ['express', 'fastify', 'hono', '@hono/node-server', 'koa', '@koa/router'];

const parts = new AsyncDisposableStack();
let folder: string;
let pair: Pair;
let machine: { id: string; secret: string };
let follower: { id: string; secret: string };

beforeAll(async () => {
  folder = parts.use(await temporaryFolder()).path;
  await installResource(folder, FRAMEWORKS);
  const space = { url: RESOURCE, realm: 'notes', schemes: ['Bearer', 'DPoP'], serves: 'verify' };
  const scopes = { safe: ['notes:read'], unsafe: ['notes:write'] };
  // On a busy machine a follower may be slow.
  const revocations = { lease: 10 };
  pair = parts.use(await startPair({ settings: { spaces: [{ ...space, scopes }], revocations } }));
  machine = await pair.addClient('notes:read notes:write');
  follower = await pair.addClient('revocations:follow');
});
afterAll(() => parts.disposeAsync());

async function token(scope: string, prover?: DpopProver): Promise<string> {
  const url = `${pair.issuer}/token`;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${machine.id}:${machine.secret}`)}`,
      ...(prover && { dpop: await prover.proof({ method: 'POST', url }) }),
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: RESOURCE, scope }),
  });
  const { access_token } = (await response.json()) as { access_token?: string };
  if (access_token === undefined) throw new Error(`no token: ${response.status}`);
  return access_token;
}

test.each(Object.entries(EVERY_NODE))(
  'the program for Node %s has this major version',
  (version, node) => {
    expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toMatch(`v${version}.`);
  },
);

const EVERYWHERE = ['express', 'koa', 'fastify', 'hono'].flatMap((name) =>
  Object.entries(EVERY_NODE).map(([version, node]) => ({ name, version, node })),
);

describe.each(EVERYWHERE)('$name on Node $version', ({ name, node }) => {
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const application = await startProcess(node, [await copyExample(folder, `${name}.mjs`)], {
      cwd: folder,
      env: {
        ...NODE,
        ISSUER: pair.issuer,
        RESOURCE,
        CLIENT: follower.id,
        SECRET: follower.secret,
        PORT: `${port}`,
      },
      ready: (output) => output.includes('listening'),
    });
    // Closed at the end only: a revocation would wait for the lease of a missing follower.
    parts.use(application);
  });

  const ask = (headers: Record<string, string> = {}, method = 'GET', path = '/v1/notes') =>
    fetch(url + path, { method, headers });
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });

  test('an unprotected path answers', async () => {
    expect((await ask({}, 'GET', '/')).status).toBe(200);
  });

  test('RFC 6750 section 3, RFC 9449 section 7.1, RFC 9728 section 5.1: a request without a token gets 401 with challenges', async () => {
    const answer = await ask();
    expect(answer.status).toBe(401);
    const challenges = answer.headers.get('www-authenticate');
    expect(challenges).toMatch(
      /^Bearer realm="api.example", scope="notes:read", resource_metadata="/,
    );
    expect(challenges).toMatch(/, DPoP realm="api.example", /);
    expect(challenges).toContain(`resource_metadata="https://api.example${METADATA}"`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await answer.json()).toMatchObject({ status: 401, title: 'Unauthorized' });
  });

  test('a token with the scope gets 200, and the handler learns the caller', async () => {
    const answer = await ask(bearer(await token('notes:read')));
    expect([answer.status, await answer.json()]).toEqual([200, { readBy: machine.id }]);
    const written = await ask(bearer(await token('notes:write')), 'POST');
    expect([written.status, await written.json()]).toEqual([200, { writtenBy: machine.id }]);
  });

  test('RFC 6750 section 3.1: a token without the scope gets 403 with the required scope', async () => {
    const answer = await ask(bearer(await token('notes:read')), 'POST');
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Bearer .*error="insufficient_scope".*scope="notes:write notes:read"/,
    );
  });

  test('a token of another resource, a changed token, and a missing token get 401', async () => {
    const good = await token('notes:read');
    const other = good.replace(/\.[^.]+$/, (signature) => signature.toLowerCase());
    for (const forged of [other, 'x', '']) {
      const answer = await ask(bearer(forged));
      expect([forged, answer.status]).toEqual([forged, 401]);
    }
  });

  test('RFC 7009 section 2.2: a revoked token is refused by the very next request', async () => {
    for (let count = 0; count < 5; count += 1) {
      const one = await token('notes:read');
      expect((await ask(bearer(one))).status).toBe(200);
      const { status } = await pair.post('/token/revocation', { token: one }, machine);
      expect(status).toBe(200);
      const answer = await ask(bearer(one));
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    }
  });

  test('RFC 9110 section 11.6.2: two Authorization fields get 400, in any order', async () => {
    const good = `Authorization: Bearer ${await token('notes:read')}\r\n`;
    for (const lines of [good + good, `${good}Authorization: Bearer x\r\n`]) {
      const request = `GET /v1/notes HTTP/1.1\r\nHost: x\r\n${lines}Connection: close\r\n\r\n`;
      expect(statusOf(await rawHttp(url, request))).toBe(400);
    }
  });

  test('RFC 9110 section 9.3.2: HEAD gets the answer of GET without content', async () => {
    const refused = await ask({}, 'HEAD');
    expect([refused.status, await refused.text()]).toEqual([401, '']);
    expect(refused.headers.get('www-authenticate')).toContain('scope="notes:read"');
    expect((await ask(bearer(await token('notes:read')), 'HEAD')).status).toBe(200);
  });

  test('Fetch, CORS protocol: a preflight passes without a token, and another OPTIONS request does not', async () => {
    // Fastify has no route for OPTIONS.
    expect((await ask({}, 'OPTIONS')).status).toBe(name === 'fastify' ? 404 : 401);
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'GET' };
    expect((await ask(preflight, 'OPTIONS')).status).not.toBe(401);
    expect((await ask(preflight)).status).toBe(401);
  });

  test('RFC 9728 section 3.1: the metadata are public at their path', async () => {
    const answer = await ask({ origin: 'https://app.example' }, 'GET', METADATA);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(await answer.json()).toEqual({
      resource: RESOURCE,
      resource_name: 'api.example',
      authorization_servers: [pair.issuer],
      scopes_supported: ['notes:read', 'notes:write'],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
      dpop_bound_access_tokens_required: false,
    });
  });

  test('RFC 9449 sections 4.3, 9 and 11.1: a bound token needs a nonce and works once per proof, at the public address', async () => {
    const prover = await dpopProver();
    const accessToken = await token('notes:read', prover);
    const send = (proof: string) => ask({ authorization: `DPoP ${accessToken}`, dpop: proof });
    const prove = (nonce?: string, at = RESOURCE) =>
      prover.proof({ method: 'GET', url: `${at}notes?page=2`, accessToken, nonce });

    const asked = await send(await prove());
    expect(asked.status).toBe(401);
    expect(asked.headers.get('www-authenticate')).toContain('error="use_dpop_nonce"');
    const nonce = asked.headers.get('dpop-nonce') ?? '';
    const proof = await prove(nonce);
    const answer = await send(proof);
    expect([answer.status, await answer.json()]).toEqual([200, { readBy: machine.id }]);
    expect(answer.headers.get('dpop-nonce')).toMatch(/^\d+\./);
    expect((await send(proof)).status).toBe(401);
    expect((await send(await prove(nonce, `${url}/v1/`))).status).toBe(401);
    expect((await ask(bearer(accessToken))).status).toBe(401);
  });
});
