const INTEGER = 0x02;
const SEQUENCE = 0x30;
const HALF = 32;

/** A positive INTEGER in DER: shortest form, with a zero in front where the first bit is set. */
function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const magnitude = bytes.subarray(start);
  const sign = (magnitude[0] ?? 0) < 0x80 ? [] : [0];
  return Buffer.from([INTEGER, sign.length + magnitude.length, ...sign, ...magnitude]);
}

/**
 * From R || S (RFC 7518 section 3.4) to the DER of `ECDSA-Sig-Value` (RFC 3279 section 2.2.3), which
 * `crypto.verify` takes with a bare key. Undefined when the signature has not exactly 64 octets.
 */
export function es256ToDer(signature: Buffer): Buffer | undefined {
  if (signature.length !== 2 * HALF) return undefined;
  const r = integer(signature.subarray(0, HALF));
  const s = integer(signature.subarray(HALF));
  return Buffer.concat([Buffer.from([SEQUENCE, r.length + s.length]), r, s]);
}
