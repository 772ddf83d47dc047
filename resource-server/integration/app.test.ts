import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { exchange } from '#shared/server/wire/test-socket.fixture.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
  await rs.as('PUT', '/documents/there', { body: 'x' });
});
afterAll(() => rs[Symbol.asyncDispose]());

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const challenges = ({ headers }: Reply) => String(headers['www-authenticate']);
const undated = (headers: Reply['headers']) => ({
  ...headers,
  date: undefined,
  'x-request-id': undefined,
});

describe('before authentication', () => {
  test.each(['/%2e%2e/x', '//', '/a%2fb', '/%00', '/a\\b', 'https://u@rs.example/'])(
    'a target that can be read in two ways is 400: %s',
    async (path) => {
      const reply = await rs.ask('GET', path);
      expect(reply.status).toBe(400);
      expect(reply.headers['content-type']).toBe('application/problem+json');
    },
  );

  test.each([
    ['two Host', 'Host: a\r\nHost: a'],
    ['two Authorization', 'Host: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer a'],
    ['a look-alike of Content-Length', 'Host: a\r\nContent_Length: 3'],
  ])('RFC 9112 section 3.2: a request with %s is 400', async (_, fields) => {
    const text = `GET /documents/there HTTP/1.1\r\n${fields}\r\nConnection: close\r\n\r\n`;
    expect(await exchange(rs.listening, text)).toMatch(/^HTTP\/1.1 400 /);
  });

  test('an absolute-form target is served by its path, whatever its authority', async () => {
    const reply = await rs.as('GET', 'http://elsewhere.example/documents/there');
    expect(reply.status).toBe(200);
  });

  test('an unknown path is the same 404 for every client', async () => {
    const known = await rs.as('GET', '/nowhere');
    const unknown = await rs.ask('GET', '/nowhere');
    expect([known.status, unknown.status]).toEqual([404, 404]);
    expect(known.text).toBe(unknown.text);
    expect((await rs.ask('GET', '/documentsX')).status).toBe(404);
    expect((await rs.ask('GET', '/app')).status).toBe(404);
  });

  test('health needs no credentials and belongs to no space', async () => {
    expect((await rs.ask('GET', '/health/live')).status).toBe(200);
    expect((await rs.ask('GET', '/health/ready')).status).toBe(200);
    const put = await rs.ask('PUT', '/health/live');
    expect(put.status).toBe(405);
    expect(put.headers.allow).toBe('GET, HEAD, OPTIONS');
  });
});

describe('RFC 9110 section 11.6: authentication', () => {
  test('a request without credentials is 401 with a challenge for each scheme in order, and no error code', async () => {
    const reply = await rs.ask('GET', '/documents/there');
    expect(reply.status).toBe(401);
    expect(challenges(reply)).toMatch(/^Bearer realm="documents".*, DPoP realm="documents"/);
    expect(challenges(reply)).not.toContain('error');
    expect(challenges(reply)).toContain(
      'resource_metadata="https://rs.example/.well-known/oauth-protected-resource/documents/"',
    );
  });

  test('a 401 comes before 404 and 405, so that only valid tokens reveal what exists', async () => {
    const answers = await Promise.all([
      rs.ask('GET', '/documents/there'),
      rs.ask('GET', '/documents/missing'),
      rs.ask('PROPFIND', '/documents/there'),
      rs.ask('POST', '/documents/there'),
      rs.ask('DELETE', '/documents/there'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });

  test('RFC 6750 section 3.1: an invalid or malformed token is 401 invalid_token, two tokens are 400', async () => {
    const withField = (Authorization: string) =>
      rs.ask('GET', '/documents/there', { headers: { Authorization } });
    for (const value of ['Bearer not.a.token', 'Bearer a b']) {
      const bad = await withField(value);
      expect(bad.status).toBe(401);
      expect(challenges(bad)).toContain('error="invalid_token"');
    }
    expect((await withField('Bearer a, DPoP b')).status).toBe(400);
  });

  test('a token for another space is refused as invalid_token', async () => {
    const token = rs.token('hidden:read', { scope: 'documents:read' });
    expect((await rs.ask('GET', '/documents/there', bearer(token))).status).toBe(401);
  });

  test('RFC 6750 section 2: a token in both the field and the query is 400, and a token only in the query is 401', async () => {
    const token = rs.token('documents:read');
    const path = `/documents/there?access_token=${token}`;
    expect((await rs.ask('GET', path, bearer(token))).status).toBe(400);
    expect((await rs.ask('GET', path)).status).toBe(401);
  });

  test('a revoked token is refused by the next request', async () => {
    const token = rs.token('documents:read', { jti: 'revoked' });
    expect((await rs.ask('GET', '/documents/there', bearer(token))).status).toBe(200);
    await rs.stores.revocations.revoke('token', 'revoked', rememberUntil(rs.clock.now(), 600));
    expect((await rs.ask('GET', '/documents/there', bearer(token))).status).toBe(401);
  });

  test('RFC 9449: a DPoP proof is accepted once, even of ten requests at the same time', async () => {
    const client = prover(rs.now);
    const token = rs.token('documents:read', { cnf: { jkt: client.jkt } });
    const proof = client.proof(token, { htu: 'https://rs.example/documents/there' });
    const call = { headers: { Authorization: `DPoP ${token}`, DPoP: proof } };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => rs.ask('GET', '/documents/there', call)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(9);
    expect((await rs.ask('GET', '/documents/there', bearer(token))).status).toBe(401);
  });

  test('RFC 9449 section 4.3: htu is compared with the configured origin, never with Host', async () => {
    const client = prover(rs.now);
    const token = rs.token('documents:read', { cnf: { jkt: client.jkt } });
    const get = (origin: string) => {
      const DPoP = client.proof(token, { htu: `${origin}/documents/there` });
      const headers = { Authorization: `DPoP ${token}`, DPoP, Host: 'evil.example' };
      return rs.ask('GET', '/documents/there', { headers });
    };
    expect((await get('https://evil.example')).status).toBe(401);
    expect((await get('http://evil.example')).status).toBe(401);
    expect((await get('https://rs.example')).status).toBe(200);
  });

  test('RFC 9449 section 9: a space that requires nonces sends one and then accepts it', async () => {
    const client = prover(rs.now);
    const token = rs.token('hidden:read', { cnf: { jkt: client.jkt } });
    const get = (claims: object) => {
      const DPoP = client.proof(token, { htu: 'https://rs.example/hidden/', ...claims });
      return rs.ask('GET', '/hidden/', { headers: { Authorization: `DPoP ${token}`, DPoP } });
    };
    const asked = await get({});
    expect(asked.status).toBe(401);
    expect(challenges(asked)).toContain('error="use_dpop_nonce"');
    const granted = await get({ nonce: asked.headers['dpop-nonce'] });
    expect(granted.status).toBe(200);
    expect(granted.headers['dpop-nonce']).toBeDefined();
    expect(granted.headers['cache-control']).toBe('no-store');
  });
});

describe('authorization', () => {
  test('RFC 6750 section 3.1: 403 insufficient_scope names the missing and the present scopes, before 405 and 412', async () => {
    const reader = bearer(rs.token('documents:read'));
    for (const method of ['PUT', 'DELETE', 'POST']) {
      const reply = await rs.ask(method, '/documents/there', reader);
      expect(reply.status).toBe(403);
      expect(challenges(reply)).toContain('error="insufficient_scope"');
      expect(challenges(reply)).toContain('scope="documents:write documents:read"');
    }
    expect((await rs.ask('HEAD', '/documents/there', reader)).status).toBe(200);
    expect((await rs.ask('OPTIONS', '/documents/there', reader)).status).toBe(204);
    const writer = bearer(rs.token('documents:write'));
    expect((await rs.ask('GET', '/documents/there', writer)).status).toBe(403);
  });

  test('a hidden resource has the status, fields and content of a missing one', async () => {
    const writer = bearer(rs.token('hidden:write'));
    const reader = bearer(rs.token('hidden:read'));
    const put = await rs.ask('PUT', '/hidden/secret', { ...writer, body: 'x' });
    expect(put.status).toBe(201);
    const missing = await rs.ask('GET', '/hidden/missing', reader);
    for (const path of ['/hidden/secret', '/hidden/missing']) {
      const hidden = await rs.ask('GET', path, writer);
      expect(hidden.status).toBe(404);
      expect(undated(hidden.headers)).toEqual(undated(missing.headers));
      expect(hidden.text).toBe(missing.text);
    }
    expect((await rs.ask('DELETE', '/hidden/secret', reader)).status).toBe(404);
    expect((await rs.ask('PROPFIND', '/hidden/secret', writer)).status).toBe(404);
    expect((await rs.ask('OPTIONS', '/hidden/secret', writer)).status).toBe(404);
    expect((await rs.ask('GET', '/hidden/secret', reader)).text).toBe('x');
  });

  test('a hidden 404 carries the same DPoP-Nonce field as a missing one', async () => {
    const client = prover(rs.now);
    const ask = async (scope: string, path: string) => {
      const token = rs.token(scope, { cnf: { jkt: client.jkt } });
      const send = (claims: object) => {
        const DPoP = client.proof(token, { htu: `https://rs.example${path}`, ...claims });
        return rs.ask('GET', path, { headers: { Authorization: `DPoP ${token}`, DPoP } });
      };
      return send({ nonce: (await send({})).headers['dpop-nonce'] });
    };
    const hidden = await ask('hidden:write', '/hidden/');
    const missing = await ask('hidden:read', '/hidden/missing');
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect(undated(hidden.headers)).toEqual(undated(missing.headers));
    expect(hidden.text).toBe(missing.text);
  });
});

describe('RFC 9728: protected resource metadata', () => {
  const path = '/.well-known/oauth-protected-resource/documents/';

  test('section 3.1: the metadata has its path inserted in the address, without credentials, for every origin', async () => {
    const reply = await rs.ask('GET', path, { headers: { Origin: 'https://any.example' } });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    expect(JSON.parse(reply.text)).toMatchObject({
      resource: 'https://rs.example/documents/',
      authorization_servers: ['https://as.example'],
      scopes_supported: ['documents:read', 'documents:write'],
      bearer_methods_supported: ['header'],
    });
    expect((await rs.ask('GET', path.slice(0, -1))).text).toBe(reply.text);
  });

  test('HEAD of the metadata has the fields of GET without content', async () => {
    const [head, get] = [await rs.ask('HEAD', path), await rs.ask('GET', path)];
    expect(head.text).toBe('');
    expect(undated(head.headers)).toEqual(undated(get.headers));
  });

  test('a script of any origin may request the metadata with any fields', async () => {
    const reply = await rs.ask('OPTIONS', path, {
      headers: {
        Origin: 'https://any.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization, x-any',
      },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    expect(reply.headers['access-control-allow-headers']).toBe('authorization, x-any');
  });

  test.each(['', '/', '/documents/there', '/nowhere', '/document'])(
    'metadata of a path without a space is 404: %j',
    async (rest) => {
      const reply = await rs.ask('GET', `/.well-known/oauth-protected-resource${rest}`);
      expect(reply.status).toBe(404);
    },
  );

  const ROOT = '/.well-known/oauth-protected-resource';
  const notes = {
    url: 'https://rs.example/notes',
    realm: 'notes',
    schemes: ['Bearer'],
    scopes: { safe: ['notes:read'], unsafe: ['notes:read', 'notes:write'] },
  };
  const hidden = { ...notes, url: 'https://rs.example/hidden/', hide: 'forbidden' };
  const open = { ...notes, url: 'https://rs.example/open/', schemes: ['Basic'] };

  test('MCP 2026-07-28: the metadata address without a path describes the only space that is not hidden', async () => {
    await using alone = await startResourceServer({ spaces: [notes, hidden, open] });
    const reply = await alone.ask('GET', ROOT);
    expect(JSON.parse(reply.text)).toMatchObject({ resource: notes.url });
    expect((await alone.ask('GET', `${ROOT}/nowhere`)).status).toBe(404);
    await using hiding = await startResourceServer({ spaces: [hidden, open] });
    expect((await hiding.ask('GET', ROOT)).status).toBe(404);
  });

  test('a trusted proxy that names another origin of a space gets the metadata of that origin', async () => {
    const forwarded = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'app.example' };
    const reply = await rs.ask('GET', ROOT, { headers: forwarded });
    expect(JSON.parse(reply.text)).toMatchObject({ resource: 'https://app.example/' });
    await using direct = await startResourceServer({ trustedProxies: [] });
    expect((await direct.ask('GET', ROOT, { headers: forwarded })).status).toBe(404);
    expect((await rs.ask('GET', ROOT, { headers: { Host: 'app.example' } })).status).toBe(404);
  });
});

describe('the page at /', () => {
  test('the home page names the configured addresses, and has a policy that allows only its style and its script', async () => {
    const { status, headers, text } = await rs.ask('GET', '/');
    expect(status).toBe(200);
    expect(text).toContain('https://rs.example/documents/');
    expect(text).toContain('https://as.example/token');
    expect(text).not.toContain('localhost');
    for (const name of ['style', 'script']) {
      const [, content = ''] = new RegExp(`<${name}[^>]*>([^]*)</${name}>`).exec(text) ?? [];
      const hash = createHash('sha256').update(content).digest('base64');
      expect(headers['content-security-policy']).toContain(`${name}-src 'sha256-${hash}'`);
    }
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  test('the home page escapes configured text for HTML and shell', async () => {
    const url = "https://rs.example/it's/";
    const space = {
      url,
      realm: '<b>&',
      schemes: ['Bearer'],
      scopes: { safe: ["a';id"], unsafe: [] },
    };
    await using odd = await startResourceServer({ spaces: [space] });
    const { text } = await odd.ask('GET', '/');
    expect(text).not.toContain('<b>');
    expect(text).toContain('&lt;b&gt;&amp;');
    expect(text).toContain(`scope=${String.raw`'a'\'';id'`.replaceAll("'", '&#39;')}`);
  });

  test('the home page does not exist if a space has the root', async () => {
    const space = { url: 'https://rs.example/', realm: 'all', schemes: ['Bearer'] };
    await using rooted = await startResourceServer({ spaces: [space] });
    expect((await rooted.ask('GET', '/')).status).toBe(401);
    const token = rooted.token('any:thing', { aud: 'https://rs.example' });
    expect((await rooted.ask('GET', '/', bearer(token))).text).toBe('{"members":[]}');
    expect((await rooted.ask('GET', '/.well-known/oauth-protected-resource')).status).toBe(200);
  });
});

describe('the log', () => {
  test('the log has a line with the decision for each request, and never a token, a query or a proof', async () => {
    const token = rs.token('documents:read');
    rs.lines.length = 0;
    await rs.ask('GET', '/documents/there?secret=1', bearer(token));
    await rs.ask('GET', `/documents/there?access_token=${token}`);
    await rs.ask('GET', '/nowhere');
    const [granted, refused, missing] = rs.lines.map((line) => JSON.parse(line) as object);
    expect(granted).toMatchObject({
      event: 'request',
      space: 'documents',
      scheme: 'Bearer',
      verdict: 'granted',
      path: '/documents/there',
      status: 200,
    });
    expect(refused).toMatchObject({
      verdict: 'refused',
      status: 401,
      reason: 'access token in the query: send it in Authorization',
    });
    expect(missing).toMatchObject({ status: 404, path: '/nowhere' });
    expect(rs.lines.join('')).not.toContain(token);
    expect(rs.lines.join('')).not.toContain('secret');
  });
});

test('no request is answered with 5xx except 501', async () => {
  const text = fc.string({
    unit: fc.constantFrom(...'/documents%2F.aé\0?#:@*\\'.split('')),
    maxLength: 30,
  });
  const field = fc.tuple(
    fc.constantFrom(
      'Authorization',
      'DPoP',
      'If-Match',
      'Content-Type',
      'Origin',
      'Host',
      'X-Forwarded-Uri',
    ),
    fc.string({ unit: fc.constantFrom(...'Bearer DPoP,=;"\\ .*/\t'.split('')), maxLength: 40 }),
  );
  const method = fc.constantFrom(
    'GET',
    'HEAD',
    'PUT',
    'POST',
    'DELETE',
    'OPTIONS',
    'PATCH',
    'LOCK',
    'x',
  );
  const token = rs.token('documents:read documents:write');
  await fc.assert(
    fc.asyncProperty(
      method,
      text,
      fc.array(field, { maxLength: 4 }),
      async (verb, path, fields) => {
        const head = [
          `${verb} /documents/${path} HTTP/1.1`,
          'Host: localhost',
          'Connection: close',
          'Content-Length: 0',
          `Authorization: Bearer ${token}`,
          ...fields.map(([name, value]) => `${name}: ${value}`),
        ];
        const answer = await exchange(rs.listening, `${head.join('\r\n')}\r\n\r\n`);
        expect(answer).toMatch(/^HTTP\/1.1 (2\d\d|3\d\d|4\d\d|501) /);
      },
    ),
    { numRuns: 200 },
  );
});
