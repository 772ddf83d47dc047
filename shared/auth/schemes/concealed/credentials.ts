import type { Credentials } from '#shared/http/auth/credentials.ts';

/** What a client shows (RFC 9729 section 4). */
export interface Proof {
  /** `k`. */
  readonly keyId: Buffer;
  /** `a`, as the client says it. */
  readonly publicKey: Buffer;
  /** `s`: a SignatureScheme of TLS. */
  readonly signatureScheme: number;
  /** `v`. */
  readonly verification: Buffer;
  /** `p`. */
  readonly signature: Buffer;
  /** Absent: the client knows of none. */
  readonly realm: string | undefined;
}

/** Or one that never ends, else each of its quotes would be looked at to the end of the value. */
const QUOTED_STRING = /"(?:[^"\\]|\\.)*"?/gs;
/** A parameter of ours whose value was in quotes, which section 4 does not have. */
const QUOTED = /(?:^|[\s,])[kasvp][ \t]*=[ \t]*""/i;
const INTEGER = /^(?:0|[1-9]\d{0,4})$/;
const HIGHEST = 0xff_ff;

/** Undefined unless all five parameters are there and are what they should be (RFC 9729 section 6.3). */
export function readProof({ rest, params }: Credentials): Proof | undefined {
  if (params === undefined || QUOTED.test(rest.replaceAll(QUOTED_STRING, '""'))) return undefined;
  const { k, a, s, v, p, realm } = params;
  const [keyId, publicKey, verification, signature] = [k, a, v, p].map(octets);
  if (!keyId || !publicKey || !verification || !signature) return undefined;
  if (s === undefined || !INTEGER.test(s) || Number(s) > HIGHEST) return undefined;
  return { keyId, publicKey, signatureScheme: Number(s), verification, signature, realm };
}

/** base64url without padding (section 4); undefined when it is not the only way to write them. */
function octets(text: string | undefined): Buffer | undefined {
  if (text === undefined || text === '') return undefined;
  const decoded = Buffer.from(text, 'base64url');
  return decoded.toString('base64url') === text ? decoded : undefined;
}
