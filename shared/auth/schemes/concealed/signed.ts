/** RFC 9729 section 9.2. */
export const LABEL = 'EXPORTER-HTTP-Concealed-Authentication';
/** Bytes that the exporter gives (section 3.2): those that are signed, then those that are shown. */
export const EXPORTED = 48;
const SIGNED = 32;

/** What a connection says of itself, in two parts. */
export interface Exported {
  readonly signatureInput: Buffer;
  readonly verification: Buffer;
}

export function splitExported(output: Buffer): Exported {
  return { signatureInput: output.subarray(0, SIGNED), verification: output.subarray(SIGNED) };
}

/** What a proof is for. */
export interface Purpose {
  readonly signatureScheme: number;
  readonly keyId: Buffer;
  readonly publicKey: Buffer;
  /** An absolute URL: scheme, host and port are read from it, the port of the scheme where it names none. */
  readonly url: string;
  /** As it came, a character for an octet; absent: empty. */
  readonly realm?: string | undefined;
}

/** By which the exporter tells one purpose from another (section 3.1). Throws TypeError when `url` has no host. */
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
 * What the signature covers (section 3.3). The figure there has "HTTP Signature Authentication" in its hex; the
 * text says what is right.
 */
export function covered(signatureInput: Buffer): Buffer {
  return Buffer.concat([PREFIX, signatureInput]);
}

const PREFIX = Buffer.from(`${' '.repeat(64)}HTTP Concealed Authentication\0`);

const ABSOLUTE = /^(https?):\/\/(\[[^\]]*\]|[^/?#:@]+)(?::(\d{1,5}))?(?:[/?#]|$)/i;
const DEFAULT_PORT = { http: 80, https: 443 };

/** Of a URI in its normal form (RFC 3986 section 6.2.2.1), in lower case; the host keeps its brackets. */
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

/** In the fewest bytes (RFC 9000 section 16); a field line is never as long as what takes eight. */
function varint(value: number): Buffer {
  if (value < 0x40) return Buffer.from([value]);
  if (value < 0x40_00) return uint16(value | 0x40_00);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE((value | 0x80_00_00_00) >>> 0);
  return bytes;
}
