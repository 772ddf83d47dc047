/** The exporter's label (RFC 9729 section 9.2). */
export const LABEL = 'EXPORTER-HTTP-Concealed-Authentication';
/**
 * Length of the exporter's output (section 3.2): first the signature input, then the verification, which is sent as
 * `v`.
 */
export const EXPORTED = 48;
const SIGNED = 32;

/** The two parts of a connection's exporter output. */
export interface Exported {
  readonly signatureInput: Buffer;
  readonly verification: Buffer;
}

export function splitExported(output: Buffer): Exported {
  return { signatureInput: output.subarray(0, SIGNED), verification: output.subarray(SIGNED) };
}

/** The address and realm that a proof is bound to. */
export interface Purpose {
  readonly signatureScheme: number;
  readonly keyId: Buffer;
  readonly publicKey: Buffer;
  /** An absolute URL, of which scheme, host and port are read; the port defaults to that of the scheme. */
  readonly url: string;
  /** The realm as received, one character for each octet; empty if absent. */
  readonly realm?: string | undefined;
}

/** Returns the exporter's context for a purpose (section 3.1). Throws TypeError if `url` has no host. */
export function exporterContext(purpose: Purpose): Buffer {
  const { signatureScheme, keyId, publicKey, url, realm = '' } = purpose;
  const { scheme, host, port } = addressOf(url);
  return Buffer.concat([
    uint16(signatureScheme),
    prefixed(keyId),
    prefixed(publicKey),
    prefixed(Buffer.from(scheme)),
    prefixed(Buffer.from(host)),
    uint16(port),
    prefixed(Buffer.from(realm, 'latin1')),
  ]);
}

/**
 * Returns the octets that the signature covers (section 3.3). The hex dump in the RFC's figure has "HTTP Signature
 * Authentication", which is wrong; the text of the section is right.
 */
export function covered(signatureInput: Buffer): Buffer {
  return Buffer.concat([PREFIX, signatureInput]);
}

const PREFIX = Buffer.from(`${' '.repeat(64)}HTTP Concealed Authentication\0`);

const ABSOLUTE = /^(https?):\/\/(\[[^\]]*\]|[^/?#:@]+)(?::(\d{1,5}))?(?:[/?#]|$)/i;
const DEFAULT_PORT = { http: 80, https: 443 };

/**
 * Returns scheme, host and port of a URI in normal form (RFC 3986 section 6.2.2.1), in lower case; an IPv6 host keeps
 * its brackets.
 */
function addressOf(url: string) {
  const [, name = '', host = '', port] = ABSOLUTE.exec(url) ?? [];
  const scheme = name.toLowerCase();
  if (host === '' || (scheme !== 'http' && scheme !== 'https')) throw new TypeError('no host');
  return {
    scheme,
    host: host.toLowerCase(),
    port: port === undefined ? DEFAULT_PORT[scheme] : Number(port),
  };
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

const prefixed = (bytes: Buffer) => Buffer.concat([varint(bytes.length), bytes]);

/**
 * Encodes a number in the fewest bytes (RFC 9000 section 16). The 8-byte form is not needed: no field line is that
 * long.
 */
function varint(value: number): Buffer {
  if (value < 0x40) return Buffer.from([value]);
  if (value < 0x40_00) return uint16(value | 0x40_00);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE((value | 0x80_00_00_00) >>> 0);
  return bytes;
}
