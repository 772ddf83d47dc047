import type { KeyObject } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import {
  issuerAndVerifier,
  memoryReplay,
  prover,
  requestOf,
  SPACE,
} from '../../judge/auth.fixture.ts';
import { createNonces } from '../../credentials/nonces.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { AuthRequest, Verdict } from '../../scheme.ts';
import { dpop } from './dpop.ts';

function setup({ nonce = false } = {}) {
  const parties = issuerAndVerifier();
  const { clock } = parties;
  const replay = memoryReplay(clock);
  const nonces = createNonces({ secret: Buffer.alloc(32, 7), clock });
  const scheme = dpop({
    space: SPACE,
    tokens: parties.tokens,
    proofs: replay,
    clock,
    keys: new RecentMap<KeyObject>(100),
    nonces,
    needsNonce: nonce,
  });
  const client = prover(parties.now);
  const bound = parties.token({ cnf: { jkt: client.jkt } });
  /** Sends the token with these DPoP fields. */
  const send = async (
    token: string,
    proofs: readonly string[],
    more: Partial<Pick<AuthRequest, 'method' | 'target'>> = {},
  ): Promise<Verdict> =>
    scheme.authenticate(
      { scheme: 'dpop', rest: token, token68: token },
      requestOf(
        proofs.map((proof) => ['DPoP', proof] as const),
        more,
      ),
    );
  return { ...parties, replay, nonces, scheme, client, bound, send };
}
const refusedWith = (error: string) => ({
  kind: 'refused',
  as: 'unauthenticated',
  challenges: [{ scheme: 'DPoP', params: { error } }],
});
const granted = { kind: 'granted', principal: { kind: 'application', id: 'machine' } };

describe('RFC 9449 section 7.1: the challenge', () => {
  test('the challenge has algs, realm, scope and metadata, and no error', async () => {
    expect(await setup().scheme.challenge(requestOf())).toEqual([
      {
        scheme: 'DPoP',
        params: {
          realm: 'documents',
          scope: 'documents:read',
          resource_metadata: 'https://rs.example/.well-known/oauth-protected-resource/documents/',
          algs: 'ES256 RS256 EdDSA Ed25519',
        },
      },
    ]);
  });

  test('the error insufficient_scope names the scopes', () => {
    const challenge = setup().scheme.insufficientScope?.(['a', 'b'], requestOf());
    expect(challenge?.params).toMatchObject({ error: 'insufficient_scope', scope: 'a b' });
  });
});

describe('RFC 9449 section 7.1: token and proof', () => {
  test('a bound token with its proof is granted', async () => {
    const { send, bound, client } = setup();
    expect(await send(bound, [client.proof(bound)])).toMatchObject(granted);
  });

  test('a request is accepted with an absolute target, or a query, that htu lacks', async () => {
    const { send, bound, client } = setup();
    const target = 'http://other.example/documents/a?x=https://y/z';
    expect(await send(bound, [client.proof(bound)], { target })).toMatchObject(granted);
  });

  test('htu is the configured origin, not what the request says', async () => {
    const { send, bound, client } = setup();
    const target = 'https://evil.example/documents/a';
    const proof = client.proof(bound, { htu: target });
    expect(await send(bound, [proof], { target })).toMatchObject(refusedWith('invalid_dpop_proof'));
  });

  test('an unbound token as DPoP is refused', async () => {
    const { send, token, client } = setup();
    const unbound = token();
    expect(await send(unbound, [client.proof(unbound)])).toMatchObject(
      refusedWith('invalid_token'),
    );
  });

  test('a token bound to another key is refused', async () => {
    const { send, bound, now } = setup();
    const thief = prover(now);
    expect(await send(bound, [thief.proof(bound)])).toMatchObject(refusedWith('invalid_token'));
  });

  test('an invalid token is refused with any proof', async () => {
    const { send, token, client, now } = setup();
    const expired = token({ cnf: { jkt: client.jkt }, exp: now() - 60 });
    expect(await send(expired, [client.proof(expired)])).toMatchObject({
      ...refusedWith('invalid_token'),
      reason: expect.stringMatching(/^access token: expired at /),
    });
  });

  test('a request without the DPoP field is refused', async () => {
    const { send, bound } = setup();
    expect(await send(bound, [])).toMatchObject(refusedWith('invalid_dpop_proof'));
  });

  test('section 4.3 check 1: two DPoP fields are malformed', async () => {
    const { send, bound, client } = setup();
    const proofs = [client.proof(bound), client.proof(bound)];
    expect(await send(bound, proofs)).toMatchObject({
      kind: 'refused',
      as: 'malformed',
      challenges: [{ params: { error: 'invalid_request' } }],
    });
    expect(await send(bound, [proofs.join(', ')])).toMatchObject(refusedWith('invalid_dpop_proof'));
  });

  test('credentials without a token68 are malformed', async () => {
    const { scheme } = setup();
    const credentials = { scheme: 'dpop', rest: 'a="b"', params: { a: 'b' } };
    expect(await scheme.authenticate(credentials, requestOf())).toMatchObject({ as: 'malformed' });
  });

  test.each([
    ['another method', { htm: 'PUT' }],
    ['another URI', { htu: 'https://rs.example/documents/b' }],
    ['another token', { ath: 'x' }],
    ['no token', { ath: undefined }],
    ['yesterday', { iat: 1_799_900_000 }],
    ['tomorrow', { iat: 1_800_100_000 }],
  ])('a proof for %s is refused', async (_, claims) => {
    const { send, bound, client } = setup();
    expect(await send(bound, [client.proof(bound, claims)])).toMatchObject(
      refusedWith('invalid_dpop_proof'),
    );
  });

  test('a proof for one token is refused with another token of the same key', async () => {
    const { send, bound, token, client } = setup();
    const other = token({ cnf: { jkt: client.jkt }, jti: 'j2' });
    expect(await send(other, [client.proof(bound)])).toMatchObject(
      refusedWith('invalid_dpop_proof'),
    );
  });
});

describe('RFC 9449 section 11.1: replay', () => {
  test('one of ten requests at the same time with one proof is granted', async () => {
    const { send, bound, client } = setup();
    const proof = client.proof(bound);
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => send(bound, [proof])));
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
    expect(verdicts.filter(({ kind }) => kind === 'refused')).toHaveLength(9);
  });

  test('the store remembers a proof for as long as it could be accepted', async () => {
    const { send, bound, client, clock, now } = setup();
    const proof = client.proof(bound, { iat: now() + 60 });
    expect(await send(bound, [proof])).toMatchObject(granted);
    for (let second = 0; second < 130; second += 10) {
      expect(await send(bound, [proof])).toMatchObject(refusedWith('invalid_dpop_proof'));
      clock.advance(10);
    }
  });

  test('two clients may use the same jti', async () => {
    const { send, bound, client, token, now } = setup();
    const other = prover(now);
    const theirs = token({ cnf: { jkt: other.jkt }, jti: 'j2' });
    expect(await send(bound, [client.proof(bound, { jti: 'same' })])).toMatchObject(granted);
    expect(await send(theirs, [other.proof(theirs, { jti: 'same' })])).toMatchObject(granted);
  });

  test('a forged proof does not use up the jti of a true one', async () => {
    const { send, bound, client } = setup();
    const proof = client.proof(bound);
    const forged = `${proof.slice(0, -8)}AAAAAAAA`;
    expect(await send(bound, [forged])).toMatchObject(refusedWith('invalid_dpop_proof'));
    expect(await send(bound, [proof])).toMatchObject(granted);
  });

  test('no request is granted while the store is down', async () => {
    const { send, bound, client, replay } = setup();
    replay.down = true;
    await expect(send(bound, [client.proof(bound)])).rejects.toThrow(StoreUnavailable);
  });
});

describe('RFC 9449 section 9: nonces of the resource server', () => {
  const NONCE = expect.stringMatching(/^\d+\.[\w-]{43}$/);

  test('a proof without a nonce gets use_dpop_nonce with a nonce that is then accepted', async () => {
    const { send, bound, client } = setup({ nonce: true });
    const asked = await send(bound, [client.proof(bound)]);
    expect(asked).toMatchObject({
      ...refusedWith('use_dpop_nonce'),
      fields: { 'DPoP-Nonce': NONCE, 'Cache-Control': 'no-store' },
    });
    const nonce = asked.kind === 'refused' && asked.fields?.['DPoP-Nonce'];
    expect(await send(bound, [client.proof(bound, { nonce })])).toMatchObject({
      ...granted,
      proof: { fields: { 'DPoP-Nonce': NONCE, 'Cache-Control': 'no-store' } },
    });
  });

  test('section 8.2: the answer to a granted request has the next nonce', async () => {
    const { send, bound, client, nonces, clock } = setup({ nonce: true });
    const nonce = nonces.issue(SPACE.realm);
    clock.advance(100);
    const verdict = await send(bound, [client.proof(bound, { nonce })]);
    expect(verdict).toMatchObject({
      kind: 'granted',
      proof: { fields: { 'DPoP-Nonce': nonces.issue(SPACE.realm) } },
    });
    expect(nonces.issue(SPACE.realm)).not.toBe(nonce);
  });

  test('a stale, foreign or invented nonce gets the request for a new nonce', async () => {
    const { send, bound, client, nonces, clock } = setup({ nonce: true });
    const old = nonces.issue(SPACE.realm);
    clock.advance(nonces.lifetime);
    for (const nonce of [old, nonces.issue('other'), 'invented', 1]) {
      expect(await send(bound, [client.proof(bound, { nonce })])).toMatchObject(
        refusedWith('use_dpop_nonce'),
      );
    }
  });

  test('one nonce may serve many proofs, each of which is accepted once', async () => {
    const { send, bound, client, nonces, clock } = setup({ nonce: true });
    const nonce = nonces.issue(SPACE.realm);
    const [first, second] = [client.proof(bound, { nonce }), client.proof(bound, { nonce })];
    expect(await send(bound, [first])).toMatchObject(granted);
    expect(await send(bound, [second])).toMatchObject(granted);
    for (let waited = 0; waited < nonces.lifetime + 60; waited += 20) {
      expect(await send(bound, [first])).toMatchObject({ kind: 'refused' });
      clock.advance(20);
    }
  });

  test('a space that requires no nonces sends no nonces', async () => {
    const { send, bound, client } = setup();
    const verdict = await send(bound, [client.proof(bound, { nonce: 'any' })]);
    expect(verdict).toMatchObject(granted);
    expect(verdict).not.toHaveProperty('proof');
    expect(await send(bound, [])).not.toHaveProperty('fields');
  });
});
