import { describe, expect, test } from '@jest/globals';
import { GENERATE } from '#shared/jose/jws.fixture.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { ISSUER, issuerAndVerifier, SPACE } from '../judge/auth.fixture.ts';
import { audiencesOf } from './token-verifier.ts';

const AUDIENCES = SPACE.audiences;
const DAY = 86_400_000;

function setup() {
  const parties = issuerAndVerifier();
  return { ...parties, verify: (token: string) => parties.tokens.verify(token, AUDIENCES) };
}
const revoked = (by: string) => ({ kind: 'refused', ...refuse('token-revoked', { by }) });

describe('RFC 9068: the principal of a token', () => {
  test('the token of an application gives the application, by its client_id', async () => {
    const { verify, token } = setup();
    expect(await verify(token())).toEqual({
      kind: 'verified',
      cnf: undefined,
      principal: {
        kind: 'application',
        id: 'machine',
        scopes: new Set(['documents:read']),
        claims: { sub: 'machine', client_id: 'machine', jti: 'j1' },
      },
      grounds: expect.objectContaining({ of: 'token j1' }),
    });
  });

  test('section 5: the token of a person gives the person, even if the sub looks like a client_id', async () => {
    const { verify, token } = setup();
    expect(await verify(token({ sub_gen: 0 }))).toMatchObject({
      principal: { kind: 'person', realm: ISSUER, name: 'machine' },
    });
  });

  test('RFC 9449 section 6.1: the caller gets the key that the token is bound to', async () => {
    const { verify, token } = setup();
    const bound = token({ cnf: { jkt: 'thumb' } });
    expect(await verify(bound)).toMatchObject({ kind: 'verified', cnf: { jkt: 'thumb' } });
    expect(await verify(bound)).toMatchObject({ kind: 'verified', cnf: { jkt: 'thumb' } });
  });
});

describe('a remembered token is checked again on every use', () => {
  test('a remembered token is refused after its expiry', async () => {
    const { verify, token, clock } = setup();
    const once = token();
    expect(await verify(once)).toMatchObject({ kind: 'verified' });
    clock.advance(604);
    expect(await verify(once)).toMatchObject({ kind: 'verified' });
    clock.advance(1);
    expect(await verify(once)).toEqual({
      kind: 'refused',
      refusal: 'token-expired',
      reason: expect.stringMatching(/^expired at \d{4}-.*Z$/),
    });
  });

  test.each([
    ['token', { kind: 'token', id: 'j1' }],
    ['grant', { kind: 'grant', id: 'g1' }],
    ['client', { kind: 'client', id: 'machine', generation: 1 }],
    ['person', { kind: 'person', id: 'alice', generation: 1 }],
  ] as const)(
    'a remembered token is refused by the next call after a revocation of its %s',
    async (by, revocation) => {
      const { verify, token, revocations, clock } = setup();
      const once = token({ sub: 'alice', sub_gen: 0, grant_id: 'g1' });
      expect(await verify(once)).toMatchObject({ kind: 'verified' });
      revocations.apply(revocation, clock.now() + DAY);
      expect(await verify(once)).toEqual(revoked(by));
    },
  );

  test('after "end everything" a new token of the same second is accepted, and the old token is refused', async () => {
    const { verify, token, revocations, clock } = setup();
    const [old, anew] = [token({ client_gen: 0 }), token({ client_gen: 1 })];
    await verify(old);
    revocations.apply({ kind: 'client', id: 'machine', generation: 1 }, clock.now() + DAY);
    expect(await verify(anew)).toMatchObject({ kind: 'verified' });
    expect(await verify(old)).toEqual(revoked('client'));
  });

  test('a store with a new epoch ends the tokens of the old epoch, and reports the change once', async () => {
    const { verify, token, revocations, state } = setup();
    const once = token();
    await verify(once);
    expect(state.newEpochs).toBe(0);
    revocations.epoch = 'e2';
    expect(await verify(once)).toEqual(revoked('epoch'));
    expect(await verify(once)).toEqual(revoked('epoch'));
    expect(state.newEpochs).toBe(1);
  });

  test('a remembered token for one space is not accepted at another', async () => {
    const { tokens, token } = setup();
    const once = token();
    expect(await tokens.verify(once, AUDIENCES)).toMatchObject({ kind: 'verified' });
    expect(await tokens.verify(once, ['https://rs.example/other/'])).toEqual({
      kind: 'refused',
      refusal: 'token-audience',
      reason: `aud is another resource: ${AUDIENCES[0]}, not https://rs.example/other/`,
    });
  });

  test('a compromised key ends its tokens at once, though the issuer still lists it', async () => {
    const { verify, token, revokeKey } = setup();
    const once = token();
    await verify(once);
    revokeKey('k1');
    expect(await verify(once)).toEqual(revoked('key'));
    expect(await verify(token({ jti: 'j2' }))).toEqual(revoked('key'));
  });

  test('a removed key ends its tokens, and so does another key with the same kid', async () => {
    const { verify, token, published } = setup();
    const once = token();
    await verify(once);
    published.set('k1', GENERATE.ES256().publicKey);
    expect(await verify(once)).toEqual({ kind: 'refused', ...refuse('token-signature') });
    published.clear();
    expect(await verify(once)).toEqual({ kind: 'refused', ...refuse('token-key') });
  });
});

describe('the memory of tokens', () => {
  test('the memory is keyed by the whole token, including payload and signature', async () => {
    const { verify, token } = setup();
    const once = token();
    await verify(once);
    const [header, payload, signature] = once.split('.');
    const [, other] = token({ scope: 'documents:write' }).split('.');
    const wrong = { kind: 'refused', ...refuse('token-signature') };
    expect(await verify(`${header}.${other}.${signature}`)).toEqual(wrong);
    expect(await verify(`${header}.${payload}.${'A'.repeat(86)}`)).toEqual(wrong);
    expect(await verify(once.slice(0, -1))).toMatchObject({ kind: 'refused' });
  });

  test('the memory holds no failure: a token is accepted once its key is published', async () => {
    const { verify, token, published } = setup();
    await verify(token());
    const pair = GENERATE.EdDSA();
    const early = token({}, { alg: 'EdDSA', kid: 'k2' }, pair.privateKey);
    expect(await verify(early)).toMatchObject({ kind: 'refused' });
    published.set('k2', pair.publicKey);
    expect(await verify(early)).toMatchObject({ kind: 'verified' });
  });

  test('the memory holds no token that was revoked before its first use', async () => {
    const { verify, token, revocations, clock } = setup();
    revocations.apply({ kind: 'token', id: 'j1' }, clock.now() + DAY);
    expect(await verify(token())).toEqual(revoked('token'));
    expect(await verify(token({ jti: 'j2' }))).toMatchObject({ kind: 'verified' });
  });
});

describe('fails closed', () => {
  test('without a trustworthy feed every token gets 503, even a remembered one', async () => {
    const { verify, token, state } = setup();
    const once = token();
    await verify(once);
    state.feedDown = true;
    const expected = { kind: 'unavailable', status: 503, retryAfter: 1 };
    expect(await verify(once)).toMatchObject(expected);
    expect(await verify(token({ jti: 'j2' }))).toMatchObject(expected);
    state.feedDown = false;
    expect(await verify(once)).toMatchObject({ kind: 'verified' });
  });

  test('without keys every token gets 503, and after a successful fetch tokens are accepted without a restart', async () => {
    const { verify, token, state } = setup();
    state.keysDown = true;
    expect(await verify(token())).toMatchObject({
      kind: 'unavailable',
      status: 503,
      retryAfter: 1,
    });
    state.keysDown = false;
    expect(await verify(token())).toMatchObject({ kind: 'verified' });
  });

  test('a malformed token causes no look-up of a key', async () => {
    const { verify, state } = setup();
    for (const text of ['', 'x', 'a.b.c', '...', 'A'.repeat(100_000)]) {
      expect(await verify(text)).toMatchObject({ kind: 'refused' });
    }
    expect(state.keysAsked).toBe(0);
  });
});

describe('RFC 8707 section 2: identifiers of a space', () => {
  test.each([
    ['https://rs.example/', ['https://rs.example', 'https://rs.example/']],
    ['https://rs.example/documents/', ['https://rs.example/documents/']],
    ['https://rs.example/documents', ['https://rs.example/documents']],
  ])('the identifiers of %s are %j', (url, audiences) =>
    expect(audiencesOf(url)).toEqual(audiences),
  );
});
