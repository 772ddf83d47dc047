/** The test cases of RFC 9421 appendix B.2, as the RFC prints them. */
import { createHmac, createPrivateKey, createPublicKey, type webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { MESSAGE_ALGORITHMS } from '#shared/jose/algorithms.ts';
import type { SignedMessage } from './message.ts';
import { sign, withFields } from './message.fixture.ts';
import { claimedSignature, verifySignature } from './verify.ts';

interface Vectors {
  readonly keys: Readonly<Record<string, webcrypto.JsonWebKey>>;
  readonly secret: string;
  readonly request: Readonly<Record<string, string>>;
  readonly response: Readonly<Record<string, string>>;
  readonly cases: readonly {
    readonly section: string;
    readonly base: string;
    readonly 'signature-input': string;
    readonly signature: string;
  }[];
}

const VECTORS = JSON.parse(
  readFileSync(new URL('rfc9421-vectors.json', import.meta.url), 'utf8'),
) as Vectors;
const NOW = 1_618_884_473;
const ALG: Readonly<Record<string, string>> = {
  'test-key-rsa-pss': 'PS512',
  'test-key-ecc-p256': 'ES256',
  'test-key-ed25519': 'Ed25519',
};

function messageOf(fields: Readonly<Record<string, string>>, section: string): SignedMessage {
  return section === 'B.2.4'
    ? { status: 200, ...withFields({ ...VECTORS.response, ...fields }) }
    : {
        method: 'POST',
        targetUri: 'https://example.com/foo?param=Value&Pet=dog',
        requestTarget: '/foo?param=Value&Pet=dog',
        ...withFields({ ...VECTORS.request, ...fields }),
      };
}

const TAGS: Readonly<Record<string, string>> = { 'B.2.2': 'header-example' };

describe('RFC 9421 appendix B.2', () => {
  test.each(VECTORS.cases)(
    "the case of $section has the RFC's signature base, and its signature verifies",
    ({ section, base, ...fields }) => {
      const message = messageOf(fields, section);
      const policy = {
        covered: [],
        tag: TAGS[section],
        required: ['keyid'],
        refused: [],
        window: 0,
      };
      const claimed = claimedSignature(message, policy, NOW);
      expect(claimed.base).toBe(base);
      const keyid = String(claimed.params.get('keyid')?.value);
      if (keyid === 'test-shared-secret') {
        const hmac = createHmac('sha256', Buffer.from(VECTORS.secret, 'base64'));
        expect(hmac.update(claimed.base).digest()).toEqual(claimed.signature);
        return;
      }
      const algorithm = MESSAGE_ALGORITHMS.get(ALG[keyid]);
      if (algorithm === undefined) throw new Error(keyid);
      const key = createPublicKey({ key: VECTORS.keys[keyid] ?? {}, format: 'jwk' });
      expect(() => verifySignature(claimed, { algorithm, key })).not.toThrow();
      const changed = { ...claimed, base: `${claimed.base} ` };
      expect(() => verifySignature(changed, { algorithm, key })).toThrow('not of this message');
    },
  );

  test('section 3.3.6: Ed25519 gives the octets of the signature in B.2.6', () => {
    const vector = VECTORS.cases.find(({ section }) => section === 'B.2.6');
    if (vector === undefined) throw new Error('The file lacks B.2.6.');
    const message = messageOf({ 'signature-input': vector['signature-input'] }, vector.section);
    const key = createPrivateKey({ key: VECTORS.keys['test-key-ed25519'] ?? {}, format: 'jwk' });
    expect(sign(message, { alg: 'Ed25519', key, label: 'sig-b26' }).Signature).toBe(
      vector.signature,
    );
  });
});
