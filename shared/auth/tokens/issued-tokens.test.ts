import { expect, test } from '@jest/globals';
import { ISSUER, issuerAndVerifier, SPACE } from '#shared/auth/judge/auth.fixture.ts';
import { GENERATE, publicJwk } from '#shared/jose/jws.fixture.ts';
import { silentLog } from '#shared/base/log.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { issuedTokens } from './issued-tokens.ts';
import { createJwks } from './jwks.ts';

function setup() {
  const issuer = issuerAndVerifier();
  const { clock, feed, published } = issuer;
  const state = { fetches: 0, jwksDown: false };
  const jwks = createJwks({
    url: `${ISSUER}/jwks`,
    async fetch() {
      state.fetches += 1;
      if (state.jwksDown) throw new Error('connection refused');
      return { keys: Array.from(published, ([kid, key]) => ({ ...publicJwk(key), kid })) };
    },
    clock,
    maxAge: 300,
    cooldown: 30,
    log: silentLog,
  });
  const tokens = issuedTokens({ issuer: ISSUER, jwks, feed, clock, skew: 5 });
  return { ...issuer, state, verify: (token: string) => tokens.verify(token, SPACE.audiences) };
}
const noSuchKey = { kind: 'refused', ...refuse('token-key') };

test('a compromised key ends its tokens at once, though the issuer still lists it', async () => {
  const { verify, token, revokeKey } = setup();
  const once = token();
  expect(await verify(once)).toMatchObject({ kind: 'verified' });
  revokeKey('k1');
  expect(await verify(once)).toEqual(noSuchKey);
});

test('the successor of a compromised key is fetched at once, regardless of the cooldown', async () => {
  const { verify, token, published, revokeKey } = setup();
  await verify(token());
  const successor = GENERATE.ES256();
  published.set('k2', successor.publicKey);
  revokeKey('k1');
  const anew = token({ jti: 'j2' }, { kid: 'k2' }, successor.privateKey);
  expect(await verify(anew)).toMatchObject({ kind: 'verified' });
});

test('a key that was removed from the JWKS ends its tokens', async () => {
  const { verify, token, published, clock } = setup();
  const once = token({ exp: 9_000_000_000 });
  await verify(once);
  published.clear();
  published.set('k2', GENERATE.ES256().publicKey);
  clock.advance(300);
  await verify(once);
  await new Promise(setImmediate);
  expect(await verify(once)).toMatchObject({ kind: 'refused' });
});

test('a token of a key that is published later is accepted from then on', async () => {
  const { verify, token, published, clock } = setup();
  await verify(token());
  const pair = GENERATE.EdDSA();
  const early = token({}, { alg: 'EdDSA', kid: 'k2' }, pair.privateKey);
  expect(await verify(early)).toEqual(noSuchKey);
  published.set('k2', pair.publicKey);
  clock.advance(30);
  expect(await verify(early)).toMatchObject({ kind: 'verified' });
});

test('new keys are fetched at once after the store lost its data', async () => {
  const { verify, token, published, revocations } = setup();
  await verify(token());
  const pair = GENERATE.ES256();
  published.clear();
  published.set('k2', pair.publicKey);
  revocations.epoch = 'e2';
  const anew = token({ jti: 'j2', epoch: 'e2' }, { kid: 'k2' }, pair.privateKey);
  expect(await verify(anew)).toMatchObject({ kind: 'verified' });
  expect(await verify(token())).toEqual(noSuchKey);
});

test('the issuer is asked for keys once, not for each token', async () => {
  const { verify, token, state } = setup();
  await Promise.all(Array.from({ length: 20 }, async (_, n) => verify(token({ jti: `${n}` }))));
  expect(state.fetches).toBe(1);
});

test('without keys tokens get 503, and after a successful fetch they are accepted without a restart', async () => {
  const { verify, token, state, clock } = setup();
  state.jwksDown = true;
  expect(await verify(token())).toMatchObject({ kind: 'unavailable', status: 503, retryAfter: 1 });
  state.jwksDown = false;
  clock.advance(1);
  expect(await verify(token())).toMatchObject({ kind: 'verified' });
});

test('a malformed token causes no request to the issuer', async () => {
  const { verify, state } = setup();
  for (const text of ['', 'x', 'a.b.c', '...', 'A'.repeat(100_000)]) {
    expect(await verify(text)).toMatchObject({ kind: 'refused' });
  }
  expect(state.fetches).toBe(0);
});
