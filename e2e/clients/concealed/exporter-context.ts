/** The exporter context to which a proof is bound (RFC 9729 section 3.1). */

export interface ExporterContext {
  /** A SignatureScheme of TLS. */
  readonly algorithm: number;
  readonly keyId: Buffer;
  /** The public key as RFC 9729 section 3.1.1 encodes it. */
  readonly publicKey: Buffer;
  readonly scheme: string;
  /** The host as in a URI, without the port; an IPv6 address is in brackets. */
  readonly host: string;
  readonly port: number;
  /** Empty if no realm is sent. One character is one octet, as in the field. */
  readonly realm: string;
}

export function encodeContext(context: ExporterContext): Buffer {
  return Buffer.concat([
    uint16(context.algorithm),
    prefixed(context.keyId),
    prefixed(context.publicKey),
    prefixed(Buffer.from(context.scheme)),
    prefixed(Buffer.from(context.host)),
    uint16(context.port),
    prefixed(Buffer.from(context.realm, 'latin1')),
  ]);
}

/**
 * A variable-length integer (RFC 9000 section 16) in the fewest octets. No length here needs eight octets.
 */
export function varint(value: number): Buffer {
  if (value < 2 ** 6) return Buffer.of(value);
  if (value < 2 ** 14) return uint16(value + 0x4000);
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value + 0x8000_0000);
  return octets;
}

function prefixed(octets: Buffer): Buffer {
  return Buffer.concat([varint(octets.length), octets]);
}

function uint16(value: number): Buffer {
  const octets = Buffer.alloc(2);
  octets.writeUInt16BE(value);
  return octets;
}
