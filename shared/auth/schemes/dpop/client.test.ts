import { expect, test } from '@jest/globals';
import { checkDpopProof } from '#shared/jose/dpop-proof.ts';
import { createDpopKey, type DpopClaims, dpopProof } from './client.ts';

const CLAIMS: DpopClaims = {
  method: 'GET',
  url: 'https://rs.example/x',
  accessToken: 'the.token',
  jti: 'one',
  iat: 1000,
};
const expected = {
  method: 'GET',
  htu: CLAIMS.url,
  accessToken: 'the.token',
  now: 1000,
  window: 60,
};

test('RFC 9449 sections 4.2 and 4.3: a proof of the client is valid, and its key has the thumbprint', () => {
  const key = createDpopKey();
  const proof = dpopProof(key, CLAIMS);
  const checked = checkDpopProof(proof, { ...expected, jkt: key.jkt }, new Map());
  expect(checked).toEqual({ ok: true, jti: 'one', jkt: key.jkt, iat: 1000 });
});

test.each([
  { method: 'POST' },
  { url: 'https://rs.example/y' },
  { accessToken: 'another.token' },
  { iat: 900 },
])('RFC 9449 section 4.3: a proof for %j is refused', (other) => {
  const proof = dpopProof(createDpopKey(), { ...CLAIMS, ...other });
  expect(checkDpopProof(proof, expected, new Map()).ok).toBe(false);
});

test("RFC 9449 section 8: the client puts the server's nonce into the proof", () => {
  const asked: unknown[] = [];
  const refusesNonce = (nonce?: string) => void asked.push(nonce);
  for (const nonce of ['n1', undefined]) {
    const proof = dpopProof(createDpopKey(), { ...CLAIMS, nonce });
    checkDpopProof(proof, { ...expected, refusesNonce }, new Map());
  }
  expect(asked).toEqual(['n1', undefined]);
});
