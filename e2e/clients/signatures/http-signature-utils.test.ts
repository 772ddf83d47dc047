/** @interledger/http-signature-utils, a third-party library, signs as Open Payments does: without a tag. */
import { generateKeyPairSync } from 'node:crypto';
import {
  createHeaders,
  validateSignature,
  validateSignatureHeaders,
} from '@interledger/http-signature-utils';
import { describe, expect, test } from '@jest/globals';
import { MESSAGE_ALGORITHMS } from '#shared/jose/algorithms.ts';
import type { SignedRequest } from '#shared/signatures/message.ts';
import { input, withFields } from '#shared/signatures/message.fixture.ts';
import type { Policy } from '#shared/signatures/policy.ts';
import { signatureFields } from '#shared/signatures/signed-request.ts';
import { claimedSignature, verifySignature } from '#shared/signatures/verify.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const URL = 'https://as.example/gnap?a=b';
const GENERAL: Policy = {
  covered: ['"@method"', '"@target-uri"'],
  tag: undefined,
  required: ['keyid'],
  refused: ['alg'],
  window: 60,
};
const now = () => Math.floor(Date.now() / 1000);

const requestWith = (fields: Readonly<Record<string, string>>): SignedRequest => ({
  method: 'POST',
  targetUri: URL,
  requestTarget: '/gnap?a=b',
  ...withFields(fields),
});

async function itsFields(body?: string): Promise<Record<string, string>> {
  const headers = { Authorization: 'GNAP token' };
  const request = { method: 'POST', url: URL, headers, ...(body !== undefined && { body }) };
  return { ...headers, ...(await createHeaders({ request, privateKey, keyId: 'k' })) };
}

function verify(fields: Readonly<Record<string, string>>, policy: Policy) {
  const claimed = claimedSignature(requestWith(fields), policy, now());
  const algorithm = MESSAGE_ALGORITHMS.get('EdDSA');
  if (algorithm === undefined) throw new Error('no EdDSA');
  verifySignature(claimed, { algorithm, key: publicKey });
  return claimed;
}

describe('@interledger/http-signature-utils', () => {
  test.each([undefined, '{"a":1}'])(
    'signs a request with content %j, and the server verifies it',
    async (body) => {
      const covered = ['"authorization"', ...(body === undefined ? [] : ['"content-digest"'])];
      const policy = { ...GENERAL, covered: [...GENERAL.covered, ...covered] };
      const claimed = verify(await itsFields(body), policy);
      expect(claimed.params.get('keyid')?.value).toBe('k');
    },
  );

  test('RFC 9635 section 7.3.1: signs without the tag that GNAP requires, and is refused', async () => {
    const fields = await itsFields();
    expect(() => verify(fields, { ...GENERAL, tag: 'gnap' })).toThrow('no signature with tag gnap');
  });

  test('verifies our signature, and refuses it for another target', async () => {
    const own = requestWith({ Authorization: 'GNAP token' });
    const params = `("@method" "@target-uri" "authorization");created=${now()};keyid="k"`;
    const signed = signatureFields(own, {
      label: 'sig1',
      ...input(params),
      alg: 'EdDSA',
      key: privateKey,
    });
    const headers = {
      authorization: 'GNAP token',
      signature: signed.Signature,
      'signature-input': signed['Signature-Input'],
    };
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'EdDSA' } as Parameters<
      typeof validateSignature
    >[0];
    const request = { method: 'POST', url: URL, headers };
    expect(validateSignatureHeaders(request)).toBe(true);
    expect(await validateSignature(jwk, request)).toBe(true);
    expect(await validateSignature(jwk, { ...request, url: `${URL}&c=d` })).toBe(false);
  });
});
