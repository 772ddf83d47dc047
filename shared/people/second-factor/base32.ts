const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Writes octets in base32 without padding (RFC 4648 section 6), as apps for one-time codes read secrets. */
export function base32(octets: Uint8Array): string {
  const bits = [...octets].map((octet) => octet.toString(2).padStart(8, '0')).join('');
  const digits = bits.match(/.{1,5}/g) ?? [];
  return digits.map((digit) => ALPHABET[Number.parseInt(digit.padEnd(5, '0'), 2)]).join('');
}
