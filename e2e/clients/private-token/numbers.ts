/** Integers of any size, as in RFC 8017 section 4 and RFC 9497 section 1.3. */

/** Returns random octets. An argument, so that a vector can fix them. */
export type Random = (octets: number) => Buffer;

/** OS2IP: reads an integer from octets. */
export function toInteger(octets: Uint8Array): bigint {
  return BigInt(`0x0${Buffer.from(octets).toString('hex')}`);
}

/** I2OSP: writes an integer as octets; throws if it does not fit. */
export function toOctets(integer: bigint | number, length: number): Buffer {
  const hex = integer.toString(16).padStart(2 * length, '0');
  if (integer < 0 || hex.length > 2 * length) throw new RangeError(`not ${length} octets: ${hex}`);
  return Buffer.from(hex, 'hex');
}

export function mod(integer: bigint, modulus: bigint): bigint {
  const rest = integer % modulus;
  return rest < 0n ? rest + modulus : rest;
}

export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = mod(base, modulus);
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** The modular inverse; throws if the two numbers have a common factor. */
export function inverse(integer: bigint, modulus: bigint): bigint {
  let [rest, next] = [modulus, mod(integer, modulus)];
  let [found, coming] = [0n, 1n];
  while (next !== 0n) {
    const quotient = rest / next;
    [rest, next] = [next, rest - quotient * next];
    [found, coming] = [coming, found - quotient * coming];
  }
  if (rest !== 1n) throw new RangeError('not invertible');
  return mod(found, modulus);
}

/** A uniform number from 1 to modulus - 1, by rejection. The modulus must begin with a set bit. */
export function randomBelow(modulus: bigint, random: Random): bigint {
  const octets = modulus.toString(16).length / 2;
  for (;;) {
    const integer = toInteger(random(octets));
    if (integer > 0n && integer < modulus) return integer;
  }
}
