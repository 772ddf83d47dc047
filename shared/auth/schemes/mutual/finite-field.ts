import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  getDiffieHellman,
  type KeyObject,
} from 'node:crypto';
import { der, integer, SEQUENCE } from '#shared/base/der.ts';
import type { Group } from './group.ts';
import { int, octets } from './octets.ts';

/** The object identifier dhKeyAgreement (PKCS #3). */
const DH = der(0x06, Buffer.from('2a864886f70d010301', 'hex'));
const VERSION = integer(Buffer.of(0));

function positive(number: bigint): Buffer {
  const hex = number.toString(16);
  return integer(Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'));
}

/**
 * Makes a group of RFC 3526 (RFC 8121 section 3.2 and appendix A). OpenSSL computes the powers as in a Diffie-Hellman
 * exchange, in a time that does not depend on the exponent. One product of two numbers is computed here; an attacker
 * who could measure its time chooses neither number.
 */
export function finiteField(group: 'modp14' | 'modp16'): Group<bigint> {
  const q = int(getDiffieHellman(group).getPrime());
  const order = (q - 1n) / 2n;
  const length = q.toString(16).length / 2;
  const algorithm = der(SEQUENCE, DH, der(SEQUENCE, positive(q), positive(2n)));

  const exponent = (scalar: bigint): KeyObject =>
    createPrivateKey({
      key: der(SEQUENCE, VERSION, algorithm, der(0x04, positive(scalar))),
      format: 'der',
      type: 'pkcs8',
    });
  const base = (element: bigint): KeyObject =>
    createPublicKey({
      key: der(SEQUENCE, algorithm, der(0x03, Buffer.of(0), positive(element))),
      format: 'der',
      type: 'spki',
    });
  /** Accepts 1 < n < q - 1, which excludes both small subgroups (RFC 8121 section 3.2). */
  const element = (number: bigint) => (number > 1n && number < q - 1n ? number : undefined);

  function times(scalar: bigint) {
    if (scalar % order === 0n) return undefined;
    const privateKey = exponent(scalar);
    return (of: bigint) => element(int(diffieHellman({ privateKey, publicKey: base(of) })));
  }

  return {
    order,
    decode: (bytes) => (bytes.length === length ? element(int(bytes)) : undefined),
    encode: (number) => octets(number, length),
    multiple: (scalar) => times(scalar)?.(2n),
    times,
    add: (one, other) => element((one * other) % q),
  };
}
