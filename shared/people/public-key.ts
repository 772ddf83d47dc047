import { createPublicKey, type KeyObject } from 'node:crypto';
import { remembering } from '#shared/base/recent-map.ts';
import { parseStrictJson } from '#shared/base/strict-json.ts';
import { keyFromJwk, type KeptKey, keptKey } from '#shared/jose/key-fingerprint.ts';
import { holdsPrivateKey } from '#shared/jose/private-members.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { Refused, said } from '#shared/refusals/operations.ts';

/**
 * Thrown if the content is no public key, or none that the scheme accepts. The message continues a sentence about the
 * content.
 */
export class PublicKeyError extends Refused {
  override readonly name = 'PublicKeyError';
}

type Fits = (key: KeyObject) => boolean;

const ofCurve =
  (curve: string): Fits =>
  ({ asymmetricKeyType: type, asymmetricKeyDetails: details }) =>
    type === 'ec' && details?.namedCurve === curve;

/** The accepted sizes of an RSA modulus in bits: a smaller one can be factored, a larger one takes long to verify. */
const RSA = { least: 2048, most: 8192 };
const EXPONENT = { least: 65_537n, below: 2n ** 32n };

/** True for a key of type `rsaEncryption` with an accepted size: a key for PSS alone has another type. */
export const isRsa: Fits = ({ asymmetricKeyType: type, asymmetricKeyDetails: details }) => {
  const { modulusLength = 0, publicExponent = 0n } = details ?? {};
  return (
    type === 'rsa' &&
    modulusLength >= RSA.least &&
    modulusLength <= RSA.most &&
    publicExponent >= EXPONENT.least &&
    publicExponent < EXPONENT.below &&
    publicExponent % 2n === 1n
  );
};

const HOBA = {
  [`RSA of ${RSA.least} to ${RSA.most} bits with an exponent of ${EXPONENT.least} or more`]: isRsa,
};

/** The algorithms of each scheme, with the keys that fit (RFC 9729 section 3.1.1, RFC 7486 section 9.3). */
const TAKEN: Readonly<Record<PublicKeyRecord['scheme'], Readonly<Record<string, Fits>>>> = {
  Concealed: {
    Ed25519: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519',
    'P-256': ofCurve('prime256v1'),
    'P-384': ofCurve('secp384r1'),
    ...HOBA,
  },
  HOBA,
};

/** Matches two lines around base64 or, as in RFC 7486 appendix B, base64url. */
const PEM =
  /^\s*-----BEGIN (RSA )?PUBLIC KEY-----((?:[\w\r\t+/=-]|\n *)+?)-----END \1PUBLIC KEY-----\s*$/;

/**
 * Reads a public key in PEM or DER (SubjectPublicKeyInfo; for RSA also PKCS#1 in PEM) or as a JWK, if the scheme
 * accepts it. Throws `PublicKeyError`.
 */
export function readPublicKey(content: Uint8Array, scheme: PublicKeyRecord['scheme']): KeptKey {
  const key = parse(Buffer.from(content));
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const taken = TAKEN[scheme];
  if (!Object.values(taken).some((fits) => fits(key))) {
    const what = [type, details?.namedCurve ?? details?.modulusLength].join(' ').trim();
    throw new PublicKeyError(
      said('key-type', { type: what, scheme, types: Object.keys(taken).join(', ') }),
    );
  }
  return keptKey(key);
}

/**
 * Returns the imported key of a record. Importing a key takes as long as verifying, so imported keys are remembered.
 */
export const importedKey = remembering(
  (spki) => createPublicKey({ key: Buffer.from(spki, 'base64url'), format: 'der', type: 'spki' }),
  { capacity: 10_000, longest: 2000 },
);

function parse(content: Buffer): KeyObject {
  const text = content.toString('utf8');
  if (text.includes('PRIVATE KEY-----')) throw isPrivate();
  try {
    if (text.trimStart().startsWith('{'))
      return fromPublicJwk(parseStrictJson(text) as Readonly<Record<string, unknown>>);
    if (text.includes('-----BEGIN')) return fromPem(text);
    return createPublicKey({ key: content, format: 'der', type: 'spki' });
  } catch (error) {
    if (error instanceof PublicKeyError) throw error;
    throw new PublicKeyError(said('no-public-key'));
  }
}

const isPrivate = () => new PublicKeyError(said('private-key'));

function fromPublicJwk(jwk: Readonly<Record<string, unknown>>): KeyObject {
  if (holdsPrivateKey(jwk)) throw isPrivate();
  if ((jwk['use'] ?? 'sig') !== 'sig') {
    throw new PublicKeyError(said('key-use'));
  }
  return keyFromJwk(jwk);
}

function fromPem(text: string): KeyObject {
  const [, rsa, body = ''] = PEM.exec(text) ?? [];
  const der = Buffer.from(body, 'base64');
  if (rsa === undefined) return createPublicKey({ key: der, format: 'der', type: 'spki' });
  const pkcs1 = { format: 'der', type: 'pkcs1' } as const;
  const key = createPublicKey({ key: der, ...pkcs1 });
  // Node silently uses the public half of a private key in PKCS #1.
  if (!key.export(pkcs1).equals(der)) throw isPrivate();
  return key;
}
