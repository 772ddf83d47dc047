import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { openSend } from '#shared/client/send.ts';
import { openProvider, ProviderError, type RoundTrip } from './provider.ts';

const TRIP: RoundTrip = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) };
const REDIRECT = 'http://localhost:3000/sign-in/with/corp/callback';

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let issuer: string;
let close: () => void;
/** The answers by path; a test replaces some. */
let answers: Record<string, Answer>;
let claims: JWTPayload;
const clock = new ManualClock(Date.now());

const json =
  (content: unknown, status = 200): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(content));
  };

const signed = (payload: JWTPayload, alg = 'RS256') =>
  new SignJWT(payload).setProtectedHeader({ alg, kid: 'k' }).sign(keys.privateKey);

/** Answers the token request with this ID token. */
const withToken = (make: () => Promise<string> | string): Answer => {
  return async (request, response) => {
    const id_token = await make();
    json({ access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token })(request, response);
  };
};

beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true });
});

beforeEach(async () => {
  clock.set((Date.now() - clock.now()) / 1000);
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''] ?? json({}, 404);
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const now = Math.floor(clock.now() / 1000);
  claims = { iss: issuer, sub: 'x', aud: 'c', nonce: 'n', iat: now, exp: now + 60 };
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', use: 'sig', alg: 'RS256' };
  answers = {
    '/.well-known/openid-configuration': json({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    }),
    '/jwks': json({ keys: [jwk] }),
    '/token': withToken(() => signed(claims)),
  };
});
afterEach(() => close());

function provider(milliseconds = 5000) {
  return openProvider(
    { issuer, clientId: 'c', scopes: ['openid'] },
    { send: openSend({ milliseconds, most: 65_536 }), clock, redirectUri: REDIRECT, secret: 's' },
  );
}

const redeem = (trip: RoundTrip = TRIP, milliseconds?: number) =>
  provider(milliseconds).redeem(new URLSearchParams({ code: 'c', state: 's' }), trip);

const kindOf = async (asked: Promise<unknown>) =>
  asked.then(
    () => 'accepted',
    (error: unknown) => (error instanceof ProviderError ? error.kind : error),
  );

test('the statements of a provider are those of the ID token', async () => {
  expect(await redeem()).toMatchObject({ subject: 'x', claims: { sub: 'x' } });
});

describe('an ID token is refused (OpenID Connect Core 1.0 section 3.1.3.7)', () => {
  const others: Readonly<Record<string, () => Promise<string> | string>> = {
    'of another issuer': () => signed({ ...claims, iss: 'http://evil.example' }),
    'for another client': () => signed({ ...claims, aud: 'other' }),
    'for two clients without azp': () => signed({ ...claims, aud: ['c', 'other'] }),
    'with another nonce': () => signed({ ...claims, nonce: 'other' }),
    'without a nonce': () => signed({ ...claims, nonce: undefined }),
    'without a subject': () =>
      signed(Object.fromEntries(Object.entries(claims).filter(([name]) => name !== 'sub'))),
    'that has expired': () => signed({ ...claims, exp: Math.floor(clock.now() / 1000) - 31 }),
    'without a signature': () => new UnsecuredJWT(claims).encode(),
    'signed by another key': async () => {
      const { privateKey } = await generateKeyPair('RS256');
      return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(privateKey);
    },
    'signed with the client secret': () =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode('s'.repeat(32))),
    'that is no JWT': () => 'x',
  };
  test.each(Object.keys(others))('%s', async (name) => {
    answers['/token'] = withToken(others[name] ?? (() => ''));
    expect(await kindOf(redeem())).toBe('wrong');
  });

  test('that is missing', async () => {
    answers['/token'] = json({ access_token: 'a', token_type: 'Bearer' });
    expect(await kindOf(redeem())).toBe('wrong');
  });
});

describe('a new sign-in that was asked for', () => {
  const at = (seconds: number) => ({ auth_time: Math.floor(clock.now() / 1000) - seconds });

  test.each([
    ['of this moment is accepted', () => at(2), 'accepted'],
    ['while the person was there is accepted', () => at(500), 'accepted'],
    ['before the person went there is refused', () => at(640), 'wrong'],
    ['without a time is refused', () => ({}), 'wrong'],
  ])('%s', async (_, more, kind) => {
    answers['/token'] = withToken(() => signed({ ...claims, ...more() }));
    expect(await kindOf(redeem({ ...TRIP, after: clock.now() - 600_000 }))).toBe(kind);
  });
});

describe('userinfo', () => {
  const withUserinfo = (content: unknown, status?: number) => {
    answers['/.well-known/openid-configuration'] = json({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      userinfo_endpoint: `${issuer}/userinfo`,
    });
    answers['/userinfo'] = json(content, status);
  };

  test('adds its claims', async () => {
    withUserinfo({ sub: 'x', email: 'x@corp.example' });
    expect((await redeem()).claims['email']).toBe('x@corp.example');
  });

  test('takes from the ID token no statement about an address of its own', async () => {
    claims = { ...claims, email: 'x@corp.example', email_verified: true };
    withUserinfo({ sub: 'x', email: 'y@corp.example' });
    const { email, email_verified } = (await redeem()).claims;
    expect([email, email_verified]).toEqual(['y@corp.example', undefined]);
  });

  test.each([
    ['of another subject', { sub: 'y' }, 200, 'wrong'],
    ['without a subject', { email: 'x@corp.example' }, 200, 'wrong'],
    ['with an error', { error: 'invalid_token' }, 401, 'wrong'],
    ['that fails', {}, 500, 'unavailable'],
  ])('%s ends the sign-in', async (_, content, status, kind) => {
    withUserinfo(content, status);
    expect(await kindOf(redeem())).toBe(kind);
  });
});

describe('a provider that fails', () => {
  const METADATA = '/.well-known/openid-configuration';
  const endless: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write('['.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  };
  const redirect: Answer = (_request, response) => {
    response.writeHead(302, { location: `${issuer}/elsewhere` });
    response.end();
  };
  const never: Answer = () => {};
  const metadata = (more: object): Answer =>
    json({ issuer, authorization_endpoint: `${issuer}/auth`, ...more });

  test.each<[string, Answer | (() => Answer), string]>([
    ['answers without end', () => endless, 'unavailable'],
    ['never answers', () => never, 'unavailable'],
    ['answers 500', () => json({}, 500), 'unavailable'],
    ['answers 429', () => json({}, 429), 'unavailable'],
    ['answers 404', () => json({}, 404), 'wrong'],
    ['redirects', () => redirect, 'wrong'],
    [
      'has the metadata of another issuer',
      () => metadata({ issuer: 'http://evil.example' }),
      'wrong',
    ],
    ['has a template as its issuer', () => metadata({ issuer: `${issuer}/{tenantid}` }), 'wrong'],
    ['has an issuer with a slash more', () => metadata({ issuer: `${issuer}/` }), 'wrong'],
    [
      'has an authorization endpoint over http',
      () => metadata({ authorization_endpoint: 'http://evil.example/' }),
      'wrong',
    ],
    [
      'has a script as authorization endpoint',
      () => metadata({ authorization_endpoint: 'javascript:0' }),
      'wrong',
    ],
  ])('%s is refused when a sign-in begins', async (_, make, kind) => {
    answers[METADATA] = (make as () => Answer)();
    expect(await kindOf(provider(500).start(TRIP))).toBe(kind);
  });

  test.each<[string, () => Answer, string]>([
    ['answers without end', () => endless, 'unavailable'],
    ['never answers', () => never, 'unavailable'],
    ['answers 503', () => json({}, 503), 'unavailable'],
    ['refuses the client', () => json({ error: 'invalid_client' }, 401), 'wrong'],
    ['redirects', () => redirect, 'wrong'],
  ])('%s is refused when the code is redeemed', async (_, make, kind) => {
    answers['/token'] = make();
    expect(await kindOf(redeem(TRIP, 500))).toBe(kind);
  });

  test('is not asked again for half a minute, if it does not answer', async () => {
    answers[METADATA] = json({}, 500);
    const corp = provider();
    await kindOf(corp.start(TRIP));
    expect(corp.isDown()).toBe(true);
    answers[METADATA] = metadata({});
    expect(await kindOf(corp.start(TRIP))).toBe('unavailable');
    clock.advance(30);
    expect([corp.isDown(), await kindOf(corp.start(TRIP))]).toEqual([false, 'accepted']);
  });

  test.each([
    ['an error that a visitor wrote into the callback', { error: 'server_error', state: 's' }],
    ['a code of a visitor that fails there', { code: 'x', state: 's' }],
  ])('does not count as down after %s', async (_, query) => {
    answers['/token'] = json({}, 500);
    const corp = provider();
    expect(await kindOf(corp.redeem(new URLSearchParams(query), TRIP))).toBe('unavailable');
    expect([corp.isDown(), await kindOf(corp.start(TRIP))]).toEqual([false, 'accepted']);
  });

  test.each([
    ['does not answer', 500, 'unavailable'],
    ['is not there', 404, 'wrong'],
  ])('%s is asked once in half a minute, however many people begin', async (_, status, kind) => {
    let asked = 0;
    answers[METADATA] = (request, response) => {
      asked += 1;
      json({}, status)(request, response);
    };
    const corp = provider();
    const kinds = [await kindOf(corp.start(TRIP)), await kindOf(corp.start(TRIP))];
    expect([kinds, asked]).toEqual([[kind, kind], 1]);
    clock.advance(30);
    await kindOf(corp.start(TRIP));
    expect(asked).toBe(2);
  });

  test('is asked again after half a minute, though the clock was set back', async () => {
    answers[METADATA] = json({}, 500);
    const corp = provider();
    await kindOf(corp.start(TRIP));
    clock.set(-86_400);
    clock.advance(30);
    answers[METADATA] = metadata({});
    expect([corp.isDown(), await kindOf(corp.start(TRIP))]).toEqual([false, 'accepted']);
  });

  test('is asked once for all who wait', async () => {
    let asked = 0;
    answers[METADATA] = (request, response) => {
      asked += 1;
      metadata({})(request, response);
    };
    const corp = provider();
    await Promise.all(Array.from({ length: 20 }, () => corp.start(TRIP)));
    expect(asked).toBe(1);
  });

  test('with an error in its answer is named in the log by the code alone', async () => {
    const parameters = new URLSearchParams({ error: 'invalid_scope', state: 's' });
    await expect(provider().redeem(parameters, TRIP)).rejects.toThrow(
      'the provider answers invalid_scope',
    );
  });
});
