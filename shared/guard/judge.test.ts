import { describe, expect, test } from '@jest/globals';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { GENERATE } from '#shared/jose/jws.fixture.ts';
import { ask, bearer, issuerAndGuard, RESOURCE } from './guard.fixture.ts';
import type { Guard, Verdict } from './guard.ts';
import type { ProtectOptions } from './options.ts';

const refused = (verdict: Verdict): Response => {
  if (verdict.ok) throw new Error('it was let in');
  return verdict.response;
};
const statusOf = async (guard: Guard, request: Request) => {
  const verdict = await guard.judge(request);
  return verdict.ok ? 200 : verdict.response.status;
};

describe('accepted tokens', () => {
  test('the tokens of an application and of a person give their ids', async () => {
    const { protect, token } = issuerAndGuard();
    const guard = protect();
    expect(await guard.judge(ask(bearer(token())))).toMatchObject({
      ok: true,
      principal: { kind: 'application', id: 'machine', client: 'machine', token: 'j1' },
    });
    const persons = token({ sub: 'p1', sub_gen: 0, jti: 'j2' });
    expect(await guard.judge(ask(bearer(persons)))).toMatchObject({
      ok: true,
      principal: { kind: 'person', id: 'p1', client: 'machine', token: 'j2' },
    });
  });

  test('RFC 9068 section 4: a token of another issuer, resource, key or time is refused', async () => {
    const { protect, token, now } = issuerAndGuard();
    const guard = protect();
    for (const wrong of [
      token({ iss: 'https://evil.example' }),
      token({ aud: 'https://api.example/' }),
      token({ aud: `${RESOURCE}notes` }),
      token({ exp: now() - 60 }),
      token({ iat: now() + 60 }),
      token({}, GENERATE.ES256().privateKey),
      token({ cnf: { jkt: 'x' } }),
      token().replace(/^[^.]+/, Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')),
      `${token()}.`,
      'x'.repeat(20_000),
    ]) {
      expect(refused(await guard.judge(ask(bearer(wrong)))).status).toBe(401);
    }
  });

  test('a bare origin is a resource with and without its slash', async () => {
    const { protect, token } = issuerAndGuard();
    const guard = protect({ resource: 'https://api.example' });
    for (const aud of [
      'https://api.example',
      'https://api.example/',
      ['x', 'https://api.example'],
    ]) {
      expect(await statusOf(guard, ask(bearer(token({ aud }))))).toBe(200);
    }
  });

  test('RFC 6750 section 2.3, RFC 9110 section 11.6.2: a token in the query, or two of a field, is refused', async () => {
    const { protect, token } = issuerAndGuard();
    const guard = protect();
    const good = token();
    expect(await statusOf(guard, ask({}, `notes?access_token=${good}`))).toBe(401);
    const two = ask(bearer(good));
    two.headers.append('authorization', `Bearer ${good}`);
    expect(await statusOf(guard, two)).toBe(400);
    expect(await statusOf(guard, ask(bearer(good), `notes?access_token=${good}`))).toBe(400);
  });

  test('RFC 6750 section 3.1: the method decides which scopes are needed', async () => {
    const { protect, token } = issuerAndGuard();
    const scopes = (method: string) => (method === 'GET' ? [] : [`notes:${method}`]);
    const guard = protect({ scopes });
    const write = token({ scope: 'notes:PUT' });
    expect(await statusOf(guard, ask(bearer(write)))).toBe(200);
    expect(await statusOf(guard, ask(bearer(write), 'notes', 'PUT'))).toBe(200);
    const answer = refused(await guard.judge(ask(bearer(write), 'notes', 'DELETE')));
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toContain('scope="notes:DELETE notes:PUT"');
  });

  test('a request is refused if the function of the scopes throws, and the log says why', async () => {
    const { protect, token, lines } = issuerAndGuard();
    for (const fails of [() => undefined, () => 'notes:read', () => JSON.parse('{')]) {
      const scopes = (method: string) => (method === 'UNKNOWN' ? fails() : []);
      const guard = protect({ scopes });
      expect(await statusOf(guard, ask(bearer(token()), 'notes', 'UNKNOWN'))).toBe(500);
    }
    expect(lines.filter(({ event }) => event === 'failed')).toHaveLength(3);
  });

  test('Fetch, CORS protocol: a preflight is anonymous; a request that only looks like one is judged', async () => {
    const { protect } = issuerAndGuard();
    const guard = protect();
    const fields = { origin: 'https://app.example', 'access-control-request-method': 'PUT' };
    const verdict = await guard.judge(ask(fields, 'notes', 'OPTIONS'));
    expect(verdict).toMatchObject({ ok: true, principal: { kind: 'anonymous' } });
    for (const [headers, method] of [
      [fields, 'GET'],
      [{ origin: fields.origin }, 'OPTIONS'],
      [{ 'access-control-request-method': 'PUT' }, 'OPTIONS'],
    ] as const) {
      expect(await statusOf(guard, ask(headers, 'notes', method))).toBe(401);
    }
  });
});

describe('refusals', () => {
  test('refusals are problem details without the reason, which the log has without the query', async () => {
    const { protect, token, lines, now } = issuerAndGuard();
    const expired = token({ exp: now() - 60 });
    const answer = refused(await protect().judge(ask(bearer(expired), 'notes?secret=1')));
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).not.toContain('expired');
    expect(lines).toMatchObject([
      {
        event: 'refused',
        method: 'GET',
        path: '/v1/notes',
        reason: expect.stringMatching(/^access token: expired at /),
        scheme: 'Bearer',
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('RFC 9110 section 9.3.2: a refusal of HEAD has no content', async () => {
    const answer = refused(
      await issuerAndGuard()
        .protect()
        .judge(ask({}, 'notes', 'HEAD')),
    );
    expect([answer.status, await answer.text()]).toEqual([401, '']);
  });
});

describe('revocations that are not followed', () => {
  const warned = (options: Partial<ProtectOptions>) => {
    const { protect, lines } = issuerAndGuard();
    protect(options);
    return lines.map(({ event }) => event);
  };

  test('the guard warns, unless the option says that they are not followed', () => {
    expect(warned({ revocation: undefined })).toEqual(['revocations.unfollowed']);
    expect(warned({ revocation: 'none' })).toEqual([]);
  });
});

test('RFC 9110 section 6.6.1: the guard says once that the clock of the issuer differs', async () => {
  const { protect, token, state, clock, lines } = issuerAndGuard();
  const date = (seconds: number) => new Date(clock.now() + seconds * 1000).toUTCString();
  state.fields = { date: date(-3600), age: '3600' };
  const guard = protect();
  expect(await statusOf(guard, ask(bearer(token())))).toBe(200);
  expect(lines).toEqual([]);
  for (const jti of ['j2', 'j3']) {
    clock.advance(301);
    state.fields = { date: date(3600) };
    await guard.judge(ask(bearer(token({ jti }))));
  }
  expect(lines.map(({ event }) => event)).toEqual(['clock.differs']);
  expect(lines[0]?.['reason']).toMatch(/https:\/\/auth\.example.* 3600 s ahead of ours, and 5 s/);
});

describe('an issuer that does not answer', () => {
  test('RFC 9110 section 15.6.4: requests get 503 with Retry-After until the issuer answers', async () => {
    const { protect, token, state, clock, lines } = issuerAndGuard();
    state.away = true;
    const guard = protect();
    expect(state.asked).toEqual([]);
    const answer = refused(await guard.judge(ask(bearer(token()))));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(lines[0]).toMatchObject({
      event: 'jwks.unavailable',
      reason: expect.stringMatching(/ECONNREFUSED/),
    });
    expect(await statusOf(guard, ask())).toBe(401);
    state.away = false;
    clock.advance(1);
    expect(await statusOf(guard, ask(bearer(token())))).toBe(200);
    state.away = true;
    expect(await statusOf(guard, ask(bearer(token({ jti: 'j2' }))))).toBe(200);
  });

  test('the guard reaches the issuer at issuerUrl', async () => {
    const { protect, token, state } = issuerAndGuard();
    const guard = protect({ issuerUrl: 'http://authz:3000' });
    expect(await statusOf(guard, ask(bearer(token())))).toBe(200);
    expect(state.asked).toEqual(['http://authz:3000/jwks']);
  });
});

describe('RFC 9449', () => {
  const setup = (dpop?: object) => {
    const { protect, token, now, ...rest } = issuerAndGuard();
    const client = prover(now);
    const bound = token({ cnf: { jkt: client.jkt } });
    const guard = protect({ ...(dpop && { dpop }) });
    const send = (claims: object = {}, request = ask()) => {
      const proof = client.proof(bound, { htu: `${RESOURCE}notes`, ...claims });
      return guard.judge(
        new Request(request, { headers: { authorization: `DPoP ${bound}`, dpop: proof } }),
      );
    };
    return { ...rest, guard, send, bound, client, token };
  };

  test('section 4.3: htu is the address that clients know, not the address that received the request', async () => {
    const { send } = setup();
    expect(await send()).toMatchObject({ ok: true });
    expect(await send({}, ask({}, 'notes?page=2'))).toMatchObject({ ok: true });
    expect(refused(await send({ htu: 'http://127.0.0.1:8080/v1/notes' })).status).toBe(401);
    expect(refused(await send({ htu: 'https://api.example/notes' })).status).toBe(401);
    expect(refused(await send({}, ask({}, 'other'))).status).toBe(401);
  });

  test('section 11.1: of ten simultaneous uses of a proof one is admitted, and no later use', async () => {
    const { guard, bound, client, clock } = setup();
    const dpop = client.proof(bound, { htu: `${RESOURCE}notes` });
    const once = () => statusOf(guard, ask({ authorization: `DPoP ${bound}`, dpop }));
    const all = await Promise.all(Array.from({ length: 10 }, once));
    expect(all.filter((status) => status === 200)).toHaveLength(1);
    expect(all.filter((status) => status === 401)).toHaveLength(9);
    for (let waited = 0; waited < 180; waited += 20) {
      clock.advance(20);
      expect(await once()).toBe(401);
    }
  });

  test("section 9: guards with the same secret accept each other's nonces, and other guards do not", async () => {
    const secret = 'a secret of thirty-two characters';
    const { send, client, bound } = setup({ nonce: true, secret });
    const asked = refused(await send());
    expect(asked.headers.get('www-authenticate')).toContain('error="use_dpop_nonce"');
    const nonce = asked.headers.get('dpop-nonce') ?? '';
    const answered = await send({ nonce });
    expect(answered.ok && answered.headers.get('dpop-nonce')).toBe(nonce);
    const other = setup({ nonce: true, secret });
    expect((await other.send({ nonce })).ok).toBe(true);
    expect((await setup({ nonce: true }).send({ nonce })).ok).toBe(false);
    expect([client.jkt, bound]).not.toContain(nonce);
  });

  test('DPoP can be required, and can be off', async () => {
    const required = setup({ required: true });
    const plain = ask(bearer(required.token()));
    const answer = refused(await required.guard.judge(plain));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^DPoP (?!.*Bearer)/);
    expect(await required.send()).toMatchObject({ ok: true });
    const { protect } = issuerAndGuard();
    const challenge = refused(await protect({ dpop: false }).judge(ask())).headers;
    expect(challenge.get('www-authenticate')).toMatch(/^Bearer (?!.*DPoP)/);
  });

  test('the first proof causes a warning if several processes are likely and share no memory', async () => {
    const { protect, token, now, state, lines } = issuerAndGuard();
    state.several = 'NODE_APP_INSTANCE';
    const guard = protect();
    const client = prover(now);
    const bound = token({ cnf: { jkt: client.jkt } });
    expect(await statusOf(guard, ask(bearer(token())))).toBe(200);
    expect(lines).toEqual([]);
    for (let count = 0; count < 2; count += 1) {
      const dpop = client.proof(bound, { htu: `${RESOURCE}notes` });
      expect(await statusOf(guard, ask({ authorization: `DPoP ${bound}`, dpop }))).toBe(200);
    }
    expect(lines).toMatchObject([
      {
        event: 'dpop.replay',
        reason: expect.stringContaining('NODE_APP_INSTANCE'),
        remedy: expect.stringContaining('ioredis'),
      },
    ]);
  });
});

describe('RFC 9728', () => {
  test("section 3.1: the resource's path follows the well-known path", () => {
    const { protect } = issuerAndGuard();
    const at = (resource: string) => protect({ resource }).metadataPath;
    expect(at(RESOURCE)).toBe('/.well-known/oauth-protected-resource/v1/');
    expect(at('https://api.example')).toBe('/.well-known/oauth-protected-resource');
  });

  test('section 2: the metadata lists every scope that a method needs, and the accepted kinds of tokens', async () => {
    const { protect } = issuerAndGuard();
    const scopes = (method: string) => (method === 'GET' ? ['r'] : ['w']);
    const answer = protect({ scopes, name: 'Notes', dpop: { required: true } }).metadata();
    expect(await answer.json()).toEqual({
      resource: RESOURCE,
      resource_name: 'Notes',
      authorization_servers: ['https://auth.example'],
      scopes_supported: ['r', 'w'],
      dpop_signing_alg_values_supported: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
      dpop_bound_access_tokens_required: true,
    });
  });
});
