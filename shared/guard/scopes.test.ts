import { describe, expect, test } from '@jest/globals';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { ask, bearer, issuerAndGuard, RESOURCE } from './guard.fixture.ts';
import type { RouteGuard } from './guard.ts';

const verdictOf = async (guard: RouteGuard, request: Request) => {
  const verdict = await guard.judge(request);
  return verdict.ok
    ? ([200, verdict.principal.id] as const)
    : ([verdict.response.status, verdict.response.headers.get('www-authenticate')] as const);
};

describe('scopes of a route', () => {
  test("RFC 6750 section 3.1: a route's scopes are needed beside those of the method, and the challenge names all", async () => {
    const { protect, token } = issuerAndGuard();
    const route = protect().scopes('notes:share', 'notes:read');
    const both = token({ scope: 'notes:read notes:share' });
    expect(await verdictOf(route, ask(bearer(both)))).toEqual([200, 'machine']);
    const [status, challenge] = await verdictOf(route, ask(bearer(token())));
    expect(status).toBe(403);
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="notes:read notes:share"');
    expect(await verdictOf(route, ask(bearer(token({ scope: 'notes:share' }))))).toEqual([
      403,
      expect.stringContaining('scope="notes:read notes:share"'),
    ]);
    expect(await verdictOf(route, ask())).toEqual([
      401,
      expect.stringContaining('scope="notes:read notes:share"'),
    ]);
  });

  test('RFC 9449 section 11.1: behind the guard of the API the proof is not checked again', async () => {
    const { protect, token, now } = issuerAndGuard();
    const guard = protect();
    const client = prover(now);
    const bound = token({ cnf: { jkt: client.jkt }, scope: 'notes:read notes:share' });
    const dpop = client.proof(bound, { htu: `${RESOURCE}notes` });
    const request = ask({ authorization: `DPoP ${bound}`, dpop });
    expect(await verdictOf(guard, request)).toEqual([200, 'machine']);
    expect(await verdictOf(guard.scopes('notes:share'), request)).toEqual([200, 'machine']);
    expect(await verdictOf(guard.scopes('notes:delete'), request)).toEqual([
      403,
      expect.stringContaining('notes:delete'),
    ]);
    const again = ask({ authorization: `DPoP ${bound}`, dpop });
    expect((await verdictOf(guard, again))[0]).toBe(401);
  });

  test('another guard judges the request itself', async () => {
    const one = issuerAndGuard();
    const other = issuerAndGuard();
    const request = ask(bearer(one.token()));
    expect(await verdictOf(one.protect(), request)).toEqual([200, 'machine']);
    expect((await verdictOf(other.protect(), request))[0]).toBe(401);
  });

  test.each([[['']], [['two words']], [['"']]])('a value that is no scope throws: %j', (scopes) => {
    expect(() =>
      issuerAndGuard()
        .protect()
        .scopes(...scopes),
    ).toThrow(/^scopes has .*no scope/);
  });
});

describe('scopes of tools (MCP)', () => {
  const call = (name: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name },
  });

  test('RFC 6750 section 3.1: a call needs the scopes of its tool beside those of the API, and one challenge names all', async () => {
    const { protect, token } = issuerAndGuard();
    const guard = protect();
    const calls = guard.tools({ add_note: ['notes:write'], share_note: ['notes:share'] });
    const reader = ask(bearer(token()));
    expect(await verdictOf(guard, reader)).toEqual([200, 'machine']);
    expect(await verdictOf(calls(call('list_notes')), reader)).toEqual([200, 'machine']);
    expect(await verdictOf(calls([call('add_note'), call('share_note')]), reader)).toEqual([
      403,
      expect.stringMatching(
        /error="insufficient_scope".*scope="notes:read notes:write notes:share"/,
      ),
    ]);
    const writer = ask(bearer(token({ scope: 'notes:read notes:write' })));
    expect(await verdictOf(calls(call('add_note')), writer)).toEqual([200, 'machine']);
    expect(await verdictOf(calls(call('add_note')), ask())).toEqual([
      401,
      expect.stringContaining('scope="notes:read notes:write"'),
    ]);
  });

  test.each([['two words'], ['']])('a value that is no scope throws: %j', (scope) => {
    const guard = issuerAndGuard().protect();
    expect(() => guard.tools({ add_note: [scope] })).toThrow(/^tools.add_note has .*no scope/);
  });
});

describe('claims', () => {
  test('RFC 9068 section 2.2: a principal has all claims of the token, parsed for each request', async () => {
    const { protect, token } = issuerAndGuard();
    const guard = protect();
    const said = token({ groups: ['Staff'], email: 'a@example.com', email_verified: true });
    for (let n = 0; n < 2; n += 1) {
      const verdict = await guard.judge(ask(bearer(said)));
      if (!verdict.ok) throw new Error('refused');
      const { claims } = verdict.principal;
      expect(claims).toMatchObject({ groups: ['Staff'], email: 'a@example.com', aud: RESOURCE });
      // Changes by a handler affect no other request.
      Object.assign(claims, { groups: ['Admins'], exp: 1e12 });
    }
  });

  test('the principal of a preflight has no id and no claims: reading them throws', async () => {
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'PUT' };
    const verdict = await issuerAndGuard()
      .protect()
      .judge(ask(preflight, 'notes', 'OPTIONS'));
    if (!verdict.ok) throw new Error('refused');
    const { principal } = verdict;
    expect(JSON.parse(JSON.stringify(principal))).toEqual({ kind: 'anonymous', scopes: {} });
    for (const name of ['id', 'client', 'token', 'claims'] as const) {
      expect(() => principal[name]).toThrow('CORS preflight');
    }
  });
});
