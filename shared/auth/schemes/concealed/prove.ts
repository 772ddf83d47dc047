import { constants, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { covered, EXPORTED, exporterContext, LABEL, splitExported } from './signed.ts';
import { SIGNATURE_SCHEMES } from './signature-schemes.ts';

/** The inputs of a client's proof. */
export interface Prover {
  readonly key: KeyObject;
  /** The request's URL, of which scheme, host and port are signed. */
  readonly url: string;
  /** The exporter of the connection that carries the request. */
  exporter(label: string, context: Buffer, length: number): Buffer;
}

const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
};

/**
 * Returns the credentials of a key (RFC 9729 section 3), without a realm; undefined if the scheme does not support
 * such a key.
 */
export function concealedCredentials({ key, url, exporter }: Prover): string | undefined {
  const publicKey = createPublicKey(key);
  const [number, scheme] = [...SIGNATURE_SCHEMES].find(([, one]) => one.fits(publicKey)) ?? [];
  if (number === undefined || scheme === undefined) return undefined;
  const keyId = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'buffer');
  const encoded = scheme.encode(publicKey);
  const purpose = { signatureScheme: number, keyId, publicKey: encoded, url };
  const exported = exporter(LABEL, exporterContext(purpose), EXPORTED);
  const { signatureInput, verification } = splitExported(exported);
  const signature = sign(scheme.hash, covered(signatureInput), { key, ...PSS });
  const octets = Object.entries({ k: keyId, a: encoded, v: verification, p: signature });
  const params = octets.map(([name, value]) => `${name}=${value.toString('base64url')}`);
  return `Concealed s=${number}, ${params.join(', ')}`;
}
