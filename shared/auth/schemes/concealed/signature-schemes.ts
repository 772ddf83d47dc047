import {
  constants,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  verify,
  type VerifyKeyObjectInput,
} from 'node:crypto';
import type { Random } from '#shared/base/random.ts';

/** What a SignatureScheme of TLS (RFC 8446 section 4.2.3) needs of a key, and how it verifies. */
export interface SignatureScheme {
  /** Of `node:crypto`; null: it is part of the algorithm. */
  readonly hash: string | null;
  /** Whether a key is for it. */
  fits(key: KeyObject): boolean;
  /** A key as `a` and the exporter's context have it (RFC 9729 section 3.1.1). */
  encode(key: KeyObject): Buffer;
  verifies(content: Buffer, key: KeyObject, signature: Buffer): boolean;
  /** Nobody's key, with which verifying takes as long as with one that `a` writes in so many bytes. */
  decoy(random: Random, length: number): KeyObject;
}

const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });

function ed25519(): SignatureScheme {
  let decoy: KeyObject | undefined;
  return {
    hash: null,
    fits: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519',
    encode: (key) => spki(key).subarray(-32),
    verifies: (content, key, signature) => verify(null, content, key, signature),
    decoy: () => (decoy ??= generateKeyPairSync('ed25519').publicKey),
  };
}

/** The point is written without compression: 0x04, then both coordinates (RFC 8446 section 4.2.8.2). */
function ecdsa(namedCurve: string, hash: string, coordinate: number): SignatureScheme {
  let decoy: KeyObject | undefined;
  return {
    hash,
    fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === namedCurve,
    encode: (key) => spki(key).subarray(-1 - 2 * coordinate),
    verifies: (content, key, signature) => verify(hash, content, key, signature),
    decoy: () => (decoy ??= generateKeyPairSync('ec', { namedCurve }).publicKey),
  };
}

/** Bytes of a modulus. */
const LEAST = 256;
const MOST = 1024;
/** Decoys are of sizes so far apart. */
const STEP = 64;

function rsaPss(hash: string): SignatureScheme {
  const decoys = new Map<number, KeyObject>();
  const padding: Omit<VerifyKeyObjectInput, 'key'> = {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  };
  return {
    hash,
    fits: ({ asymmetricKeyType, asymmetricKeyDetails: { modulusLength = 0 } = {} }) =>
      asymmetricKeyType === 'rsa' && modulusLength >= 8 * LEAST && modulusLength <= 8 * MOST,
    encode: (key) => key.export({ format: 'der', type: 'pkcs1' }),
    verifies: (content, key, signature) => verify(hash, content, { key, ...padding }, signature),
    decoy(random, length) {
      const size = Math.min(Math.max(Math.floor(length / STEP) * STEP, LEAST), MOST);
      const known = decoys.get(size);
      if (known) return known;
      const made = randomModulus(random, size);
      decoys.set(size, made);
      return made;
    },
  };
}

/** Odd, and as long as it can be; nobody has its factors, and nothing has to be the product of two primes. */
function randomModulus(random: Random, size: number): KeyObject {
  const modulus = random(size);
  modulus[0] = 0x80 | (modulus[0] ?? 0);
  modulus[size - 1] = 1 | (modulus[size - 1] ?? 0);
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

/** By their numbers at IANA: those of TLS 1.3 with a public key that section 3.1.1 knows how to write. */
export const SIGNATURE_SCHEMES: ReadonlyMap<number, SignatureScheme> = new Map([
  [0x04_03, ecdsa('prime256v1', 'sha256', 32)],
  [0x05_03, ecdsa('secp384r1', 'sha384', 48)],
  [0x08_04, rsaPss('sha256')],
  [0x08_05, rsaPss('sha384')],
  [0x08_06, rsaPss('sha512')],
  [0x08_07, ed25519()],
]);
