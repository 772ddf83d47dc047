import type { Credentials } from '#shared/http/auth/credentials.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { type SignatureScheme, SIGNATURE_SCHEMES } from './signature-schemes.ts';

/** The parameters of a client's credentials (RFC 9729 section 4). */
export interface Proof {
  /** `k`. */
  readonly keyId: Buffer;
  /** `a`, as received. */
  readonly publicKey: Buffer;
  /** `s`: a SignatureScheme of TLS. */
  readonly signatureScheme: number;
  /** `v`. */
  readonly verification: Buffer;
  /** `p`. */
  readonly signature: Buffer;
  /** Undefined if the client names no realm. */
  readonly realm: string | undefined;
}

/**
 * Matches a quoted string, also one without its closing quote; otherwise each of its quotes would be tried up to the
 * end.
 */
const QUOTED_STRING = /"(?:[^"\\]|\\.)*"?/gs;
/** Matches a parameter of the scheme whose value was quoted, which section 4 does not allow. */
const QUOTED = /(?:^|[\s,])[kasvp][ \t]*=[ \t]*""/i;
const INTEGER = /^(?:0|[1-9]\d{0,4})$/;
const HIGHEST = 0xff_ff;

/** Reads a proof. Returns undefined unless all five parameters are present and valid (RFC 9729 section 6.3). */
export function readProof({ rest, params }: Credentials): Proof | undefined {
  if (params === undefined || QUOTED.test(rest.replaceAll(QUOTED_STRING, '""'))) return undefined;
  const { k, a, s, v, p, realm } = params;
  const [keyId, publicKey, verification, signature] = [k, a, v, p].map(octets);
  if (!keyId || !publicKey || !verification || !signature) return undefined;
  if (s === undefined || !INTEGER.test(s) || Number(s) > HIGHEST) return undefined;
  return { keyId, publicKey, signatureScheme: Number(s), verification, signature, realm };
}

/** Reads a proof and finds its algorithm, or returns the reason for which a server cannot. */
export function readSigned(
  credentials: Credentials,
): { readonly proof: Proof; readonly scheme: SignatureScheme } | Refusal {
  const proof = readProof(credentials);
  if (proof === undefined) return refuse('concealed-form');
  const scheme = SIGNATURE_SCHEMES.get(proof.signatureScheme);
  return scheme === undefined ? refuse('concealed-algorithm') : { proof, scheme };
}

/** Decodes base64url without padding (section 4). Returns undefined if it is not canonical. */
function octets(text: string | undefined): Buffer | undefined {
  if (text === undefined || text === '') return undefined;
  const decoded = Buffer.from(text, 'base64url');
  return decoded.toString('base64url') === text ? decoded : undefined;
}
