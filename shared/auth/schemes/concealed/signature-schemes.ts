import { type KeyObject, verify } from 'node:crypto';
import { verifyPss } from '#shared/base/rsa-pss.ts';
import { isRsa } from '#shared/people/public-key.ts';

/** The keys of a SignatureScheme of TLS (RFC 8446 section 4.2.3), and how signatures are verified. */
export interface SignatureScheme {
  /** The hash, named as in `node:crypto`; null if the algorithm includes it. */
  readonly hash: string | null;
  /** True if a key is for this scheme. */
  fits(key: KeyObject): boolean;
  /** Encodes a key as it is written in `a` and in the exporter's context (RFC 9729 section 3.1.1). */
  encode(key: KeyObject): Buffer;
  /** Returns the SubjectPublicKeyInfo of a key that `encode` wrote. */
  spki(encoded: Buffer): Buffer;
  verifies(content: Buffer, key: KeyObject, signature: Buffer): boolean;
}

const exported = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });

/** RFC 8410 section 4. */
const ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

function ed25519(): SignatureScheme {
  return {
    hash: null,
    fits: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519',
    encode: (key) => exported(key).subarray(ED25519.length),
    spki: (encoded) => Buffer.concat([ED25519, encoded]),
    verifies: (content, key, signature) => verify(null, content, key, signature),
  };
}

/** RFC 5480 section 2. */
const P256 = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
const P384 = Buffer.from('3076301006072a8648ce3d020106052b81040022036200', 'hex');

/** The point is written without compression: 0x04, then both coordinates (RFC 8446 section 4.2.8.2). */
function ecdsa(namedCurve: string, hash: string, header: Buffer): SignatureScheme {
  return {
    hash,
    fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === namedCurve,
    encode: (key) => exported(key).subarray(header.length),
    spki: (encoded) => Buffer.concat([header, encoded]),
    verifies: (content, key, signature) => verify(hash, content, key, signature),
  };
}

/** `rsaEncryption` (RFC 8017 appendix A.1). */
const RSA = Buffer.from('300d06092a864886f70d0101010500', 'hex');
const SEQUENCE = 0x30;
const BIT_STRING = 0x03;

/**
 * Encodes an element of DER of 256 bytes or more, such as every element that contains a key of at least 2048 bits.
 */
function long(tag: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  return Buffer.concat([Buffer.of(tag, 0x82, bytes.length >> 8, bytes.length & 0xff), bytes]);
}

function rsaPss(bits: 256 | 384 | 512): SignatureScheme {
  const hash = `sha${bits}`;
  return {
    hash,
    fits: isRsa,
    encode: (key) => key.export({ format: 'der', type: 'pkcs1' }),
    spki: (encoded) => long(SEQUENCE, RSA, long(BIT_STRING, Buffer.of(0), encoded)),
    verifies: (content, key, signature) =>
      verifyPss({ key, hash, saltLength: bits / 8 }, content, signature),
  };
}

/** The signature schemes of TLS 1.3 whose public keys section 3.1.1 can encode, by their numbers at IANA. */
export const SIGNATURE_SCHEMES: ReadonlyMap<number, SignatureScheme> = new Map([
  [0x04_03, ecdsa('prime256v1', 'sha256', P256)],
  [0x05_03, ecdsa('secp384r1', 'sha384', P384)],
  [0x08_04, rsaPss(256)],
  [0x08_05, rsaPss(384)],
  [0x08_06, rsaPss(512)],
  [0x08_07, ed25519()],
]);
