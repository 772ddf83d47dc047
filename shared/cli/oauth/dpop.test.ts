import { expect, test } from '@jest/globals';
import { decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { createProver } from './dpop.ts';

test('RFC 9449 section 4.2: typ, jwk, jti, htm, htu without query, iat, ath, nonce; signed by that key', async () => {
  const clock = new ManualClock();
  const prover = await createProver(clock, systemRandom);
  const url = 'https://api.example/a/b?c=d';
  const proof = await prover.proof({ method: 'PUT', url, accessToken: 'token', nonce: 'n' });
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    typ: 'dpop+jwt',
    currentDate: new Date(clock.now()),
  });
  expect(protectedHeader).toEqual({
    typ: 'dpop+jwt',
    alg: 'ES256',
    jwk: { kty: 'EC', crv: 'P-256', x: expect.any(String), y: expect.any(String) },
  });
  expect(payload).toEqual({
    jti: expect.stringMatching(/^[\w-]{22}$/),
    htm: 'PUT',
    htu: 'https://api.example/a/b',
    iat: Math.floor(clock.now() / 1000),
    // base64url(SHA-256("token"))
    ath: 'PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A',
    nonce: 'n',
  });
});

test('two proofs of one prover differ in jti, two provers in their key', async () => {
  const [one, other] = await Promise.all(
    [1, 2].map(() => createProver(new ManualClock(), systemRandom)),
  );
  const of = { method: 'GET', url: 'https://a.example/' };
  const proofs = await Promise.all([one?.proof(of), one?.proof(of), other?.proof(of)]);
  expect(new Set(proofs).size).toBe(3);
  const keys = proofs.map((proof) => decodeProtectedHeader(proof ?? '').jwk?.x);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[0]).not.toBe(keys[2]);
});
