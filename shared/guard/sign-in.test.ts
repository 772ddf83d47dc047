import { describe, expect, test } from '@jest/globals';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { ask, bearer, issuerAndGuard, RESOURCE } from './guard.fixture.ts';
import type { RouteGuard } from './guard.ts';
import { protect } from './protect.ts';
import { testIssuer } from './testing.ts';

const PASSWORD = 'urn:countersign:acr:password';
const PASSKEY = 'urn:countersign:acr:passkey';
const person = (claims: object = {}) => ({ sub: 'alice', sub_gen: 0, ...claims });

async function verdictOf(guard: RouteGuard, request: Request) {
  const verdict = await guard.judge(request);
  return verdict.ok
    ? ([200, verdict.principal.id] as const)
    : ([verdict.response.status, verdict.response.headers.get('www-authenticate')] as const);
}

describe('RFC 9470: authentication', () => {
  test('for a method of the API a token with too low a level or too old a sign-in gets the challenge', async () => {
    const { protect: guardWith, token, now } = issuerAndGuard();
    const guard = guardWith({
      authentication: { acr: 'passkey', maxAge: 300, methods: ['DELETE'] },
    });
    const remove = async (claims: object) =>
      verdictOf(guard, ask(bearer(token(person(claims))), 'notes', 'DELETE'));
    const refused = [
      401,
      expect.stringMatching(
        /^Bearer realm="api.example", error="insufficient_user_authentication", error_description="[^"]+", acr_values="urn:countersign:acr:passkey", max_age="300", scope="notes:read", .*DPoP .*max_age="300"/,
      ),
    ];
    expect(await remove({ acr: PASSKEY, auth_time: now() })).toEqual([200, 'alice']);
    expect(await remove({ acr: PASSWORD, auth_time: now() })).toEqual(refused);
    expect(await remove({ acr: PASSKEY, auth_time: now() - 306 })).toEqual(refused);
    expect(await remove({ acr: PASSKEY, auth_time: now() + 306 })).toEqual(refused);
    expect(await remove({ acr: PASSKEY })).toEqual(refused);
    expect(await remove({})).toEqual(refused);
    expect(await verdictOf(guard, ask(bearer(token(person()))))).toEqual([200, 'alice']);
  });

  test('a route may need a sign-in beside what the API needs for the method', async () => {
    const { protect: guardWith, token, now } = issuerAndGuard();
    const guard = guardWith({ authentication: [{ acr: 'second-factor', methods: ['unsafe'] }] });
    const route = guard.signIn({ maxAge: 60 });
    const post = async (claims: object) =>
      verdictOf(route, ask(bearer(token(person(claims))), 'notes', 'POST'));
    expect(await post({ acr: PASSKEY, auth_time: now() })).toEqual([200, 'alice']);
    const refused = [
      401,
      expect.stringMatching(/acr_values="[^"]*second-factor [^"]*passkey", max_age="60"/),
    ];
    expect(await post({ acr: PASSKEY, auth_time: now() - 66 })).toEqual(refused);
    expect(await post({ acr: PASSWORD, auth_time: now() })).toEqual(refused);
  });

  test('behind the guard of the API a DPoP proof is not checked again', async () => {
    const { protect: guardWith, token, now } = issuerAndGuard();
    const guard = guardWith();
    const client = prover(now);
    const bound = token(person({ acr: PASSWORD, cnf: { jkt: client.jkt } }));
    const dpop = client.proof(bound, { htu: `${RESOURCE}notes` });
    const request = ask({ authorization: `DPoP ${bound}`, dpop });
    expect(await verdictOf(guard, request)).toEqual([200, 'alice']);
    expect(await verdictOf(guard.signIn({ acr: 'passkey' }), request)).toEqual([
      401,
      expect.stringMatching(/DPoP .*error="insufficient_user_authentication"/),
    ]);
  });

  test.each([
    [{}, 'asks for nothing'],
    [[], 'is empty'],
    ['passkey', 'must be an object'],
    [null, 'must be an object'],
    [[{ acr: 'passkey' }, 5], 'must be an object'],
    [{ acr: 'password' }, 'wrong acr'],
    [{ acr: ['passkey'] }, 'wrong acr'],
    [{ maxAge: 9 }, 'wrong maxAge'],
    [{ maxAge: -300 }, 'wrong maxAge'],
    [{ maxAge: 10.5 }, 'wrong maxAge'],
    [{ maxAge: '300' }, 'wrong maxAge'],
    [{ maxAge: 1e12 }, 'wrong maxAge'],
    [{ acr: 'passkey', methods: [] }, 'wrong methods'],
    [{ acr: 'passkey', methods: ['delete'] }, 'wrong methods'],
    [{ acr: 'passkey', methods: ['safe'] }, 'names safe but not unsafe'],
    [{ acr: 'passkey', scopes: ['a'] }, 'has scopes, which is no member'],
    [{ acr: 'passkey', constructor: 1 }, 'has constructor, which is no member'],
  ])('wrong options throw, with the remedy: %j', (authentication, message) => {
    const options = { issuer: 'https://auth.example', resource: RESOURCE, scopes: [] };
    expect(() => protect({ ...options, revocation: 'none', authentication } as never)).toThrow(
      message,
    );
  });

  test("a route's sign-in that names methods, or is empty, throws", () => {
    const guard = issuerAndGuard().protect();
    expect(() => guard.signIn({ acr: 'passkey', methods: ['PUT'] } as never)).toThrow(
      'signIn has methods',
    );
    expect(() => guard.signIn({})).toThrow('signIn asks for nothing');
  });
});

test('a test issuer makes tokens of any sign-in', async () => {
  const auth = testIssuer({ resource: RESOURCE });
  const guard = auth.protect({ scopes: [], authentication: { acr: 'passkey', maxAge: 60 } });
  const statusOf = async (more: object) =>
    (await verdictOf(guard, ask(bearer(auth.token({ person: 'alice', ...more })))))[0];
  expect(await statusOf({ signedIn: { acr: 'passkey' } })).toBe(200);
  expect(await statusOf({ signedIn: { acr: 'second-factor' } })).toBe(401);
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ signedIn: { acr: 'passkey', at: 1 } })).toBe(401);
  const token = auth.token({ person: 'alice', signedIn: { acr: 'passkey' } });
  auth.advance(66);
  expect((await verdictOf(guard, ask(bearer(token))))[0]).toBe(401);
});
