/** Messages of RFC 5802 section 7, and their way through `data` (RFC 7804 section 7). */

export interface ServerFirst {
  /** The whole message, as it goes into the AuthMessage. */
  readonly text: string;
  readonly nonce: string;
  readonly salt: Buffer;
  readonly iterations: number;
}

/** RFC 7677 section 4: a server that asks for less weakens what an eavesdropper has to guess. */
const LEAST_ITERATIONS = 4096;
/** RFC 7804 section 8: a server that asks for more keeps the client busy. */
const MOST_ITERATIONS = 1_000_000;

/** Extensions are ignored, but for `m`, which always fails (RFC 5802 section 5.1). */
const EXTENSIONS = String.raw`(?:,(?!m=)[A-Za-z]=[^,\0]+)*`;
const SERVER_FIRST = new RegExp(
  String.raw`^r=([!-+\--~]+),s=([A-Za-z0-9+/]+=*),i=([1-9][0-9]{0,8})${EXTENSIONS}$`,
);
const SERVER_FINAL = new RegExp(String.raw`^v=([A-Za-z0-9+/]+=*)${EXTENSIONS}$`);

/** Throws unless the nonce continues the client's and the cost is reasonable. */
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

/** The ServerSignature; throws at `e=`. */
export function parseServerFinal(data: string): Buffer {
  const text = decode(data).toString();
  const [, verifier = ''] = SERVER_FINAL.exec(text) ?? wrong(text);
  return decode(verifier);
}

/** saslname: the prepared name with its commas and equals signs replaced. */
export function saslname(name: string): string {
  return name.replaceAll('=', '=3D').replaceAll(',', '=2C');
}

export function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Canonical base64 only (RFC 7804 section 2.1). */
function decode(text: string): Buffer {
  const octets = Buffer.from(text, 'base64');
  if (octets.toString('base64') !== text) throw new Error(`not canonical base64: ${text}`);
  return octets;
}

function wrong(text: string): never {
  throw new Error(`not the message that is due: ${text}`);
}
