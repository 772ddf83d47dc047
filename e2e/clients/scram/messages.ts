/** Messages of RFC 5802 section 7, and their encoding in `data` (RFC 7804 section 7). */

export interface ServerFirst {
  /** The whole message, as the AuthMessage contains it. */
  readonly text: string;
  readonly nonce: string;
  readonly salt: Buffer;
  readonly iterations: number;
}

/** RFC 7677 section 4: fewer iterations would make guessing easier for an eavesdropper. */
const LEAST_ITERATIONS = 4096;
/** RFC 7804 section 8: more iterations would keep the client busy. */
const MOST_ITERATIONS = 1_000_000;

/** Extensions are ignored, except `m`, which always fails (RFC 5802 section 5.1). */
const EXTENSIONS = String.raw`(?:,(?!m=)[A-Za-z]=[^,\0]+)*`;
const SERVER_FIRST = new RegExp(
  String.raw`^r=([!-+\--~]+),s=([A-Za-z0-9+/]+=*),i=([1-9][0-9]{0,8})${EXTENSIONS}$`,
);
const SERVER_FINAL = new RegExp(String.raw`^v=([A-Za-z0-9+/]+=*)${EXTENSIONS}$`);

/** Throws unless the nonce begins with the client's nonce and the cost is within bounds. */
export function parseServerFirst(data: string, clientNonce: string): ServerFirst {
  const text = decode(data).toString();
  const [, nonce = '', salt = '', count = ''] = SERVER_FIRST.exec(text) ?? wrong(text);
  if (!nonce.startsWith(clientNonce) || nonce === clientNonce) {
    throw new Error("the server's nonce does not continue the client's");
  }
  const iterations = Number(count);
  if (iterations < LEAST_ITERATIONS || iterations > MOST_ITERATIONS) {
    throw new Error(`${iterations} iterations`);
  }
  return { text, nonce, salt: decode(salt), iterations };
}

/** The ServerSignature; throws for `e=`. */
export function parseServerFinal(data: string): Buffer {
  const text = decode(data).toString();
  const [, verifier = ''] = SERVER_FINAL.exec(text) ?? wrong(text);
  return decode(verifier);
}

/** A saslname: the prepared name with its commas and equals signs escaped. */
export function saslname(name: string): string {
  return name.replaceAll('=', '=3D').replaceAll(',', '=2C');
}

export function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Accepts canonical base64 only (RFC 7804 section 2.1). */
function decode(text: string): Buffer {
  const octets = Buffer.from(text, 'base64');
  if (octets.toString('base64') !== text) throw new Error(`not canonical base64: ${text}`);
  return octets;
}

function wrong(text: string): never {
  throw new Error(`not the message that is due: ${text}`);
}
