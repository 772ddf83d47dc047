import { expect, test } from '@jest/globals';
import { decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { createProver, loadProver, type Prover } from './dpop.ts';
import { scripted } from './oauth.fixture.ts';
import { sendWithToken } from './protected-request.ts';

const PLACE = 'https://api.example/a/b?c=d';
const NONCE = { fields: { 'dpop-nonce': 'n' } };

/** The proofs that these provers send, one after another. */
async function proofsOf(...provers: readonly Prover[]): Promise<string[]> {
  const { send, sent } = scripted({ [`PUT ${PLACE}`]: NONCE });
  for (const prover of provers) {
    const access = { accessToken: 'token', prover, resource: 'https://api.example/' };
    await sendWithToken(send, { method: 'PUT', url: PLACE }, access);
  }
  return sent.map(({ fields }) => fields?.['dpop'] ?? '');
}

test('RFC 9449 section 4.2: a proof has typ, jwk, jti, htm, htu without query, iat, ath and nonce, and a valid signature', async () => {
  const clock = new ManualClock();
  const prover = await createProver(clock, systemRandom);
  const [, proof] = await proofsOf(prover, prover);
  const { payload, protectedHeader } = await jwtVerify(proof ?? '', EmbeddedJWK, {
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

test('two proofs of one prover differ in jti, two provers in their key, and a reloaded prover has the same key', async () => {
  const clock = new ManualClock();
  const one = await createProver(clock, systemRandom);
  const other = await createProver(clock, systemRandom);
  const again = await loadProver(one.privateJwk, clock, systemRandom);
  const proofs = await proofsOf(one, one, other, again);
  expect(new Set(proofs).size).toBe(4);
  const keys = proofs.map((proof) => decodeProtectedHeader(proof).jwk?.x);
  expect(keys).toEqual([keys[0], keys[0], expect.not.stringMatching(keys[0] ?? ''), keys[0]]);
});

test('a private key that is no point of the curve is refused', async () => {
  const clock = new ManualClock();
  const { privateJwk } = await createProver(clock, systemRandom);
  const wrong = { ...privateJwk, y: privateJwk.x };
  await expect(loadProver(wrong, clock, systemRandom)).rejects.toThrow();
});
