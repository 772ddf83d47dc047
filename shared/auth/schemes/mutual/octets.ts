/** Returns OCTETS: big-endian, of a fixed length (RFC 8120 section 12.1). */
export function octets(number: bigint, length: number): Buffer {
  return Buffer.from(number.toString(16).padStart(2 * length, '0'), 'hex');
}

/** Reads INT, a number in big-endian octets (RFC 8120 section 12.1). */
export function int(bytes: Buffer): bigint {
  return BigInt(`0x0${bytes.toString('hex')}`);
}

/** Returns VI: seven bits for each octet; all octets but the last have the highest bit (RFC 8120 section 12.1). */
export function vi(number: bigint): Buffer {
  const digits = [Number(number & 0x7fn)];
  for (let rest = number >> 7n; rest > 0n; rest >>= 7n) digits.unshift(Number(rest & 0x7fn) | 0x80);
  return Buffer.from(digits);
}

/** Returns VS (RFC 8120 section 12.1); a string is encoded in UTF-8. */
export function vs(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([vi(BigInt(bytes.length)), bytes]);
}
