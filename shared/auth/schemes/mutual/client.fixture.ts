import { createHash, getDiffieHellman, pbkdf2Sync, randomBytes } from 'node:crypto';
import { p256, p521 } from '@noble/curves/nist.js';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { MUTUAL_ALGORITHMS, type MutualAlgorithmName } from './algorithms.ts';

/** The group of RFC 8121 section 3, computed with BigInt or other libraries than the server uses. */
export interface ClientGroup {
  readonly order: bigint;
  /** OCTETS of the generator multiplied by the scalar. */
  multiple(scalar: bigint): Buffer;
  multiply(octets: Buffer, scalar: bigint): Buffer;
  add(one: Buffer, other: Buffer): Buffer;
}

const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const octetsOf = (number: bigint, length: number) =>
  Buffer.from(number.toString(16).padStart(2 * length, '0'), 'hex');

export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base % modulus];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

function field(name: string): ClientGroup {
  const prime = getDiffieHellman(name).getPrime();
  const q = numberOf(prime);
  const of = (number: bigint) => octetsOf(number, prime.length);
  return {
    order: (q - 1n) / 2n,
    multiple: (scalar) => of(power(2n, scalar, q)),
    multiply: (octets, scalar) => of(power(numberOf(octets), scalar, q)),
    add: (one, other) => of((numberOf(one) * numberOf(other)) % q),
  };
}

function points({ Point }: typeof p256, octets: number): ClientGroup {
  type Point = InstanceType<typeof Point>;
  const encode = (point: Point) => {
    const { x, y } = point.toAffine();
    return octetsOf(2n * x + (y & 1n), octets);
  };
  const decode = (bytes: Buffer) => {
    const number = numberOf(bytes);
    const x = (number >> 1n).toString(16).padStart(2 * Point.Fp.BYTES, '0');
    return Point.fromHex(`0${2n + (number & 1n)}${x}`);
  };
  const order = Point.Fn.ORDER;
  return {
    order,
    multiple: (scalar) => encode(Point.BASE.multiply(scalar % order)),
    multiply: (bytes, scalar) => encode(decode(bytes).multiply(scalar % order)),
    add: (one, other) => encode(decode(one).add(decode(other))),
  };
}

export const CLIENT_GROUPS: Readonly<Record<MutualAlgorithmName, ClientGroup>> = {
  'iso-kam3-dl-2048-sha256': field('modp14'),
  'iso-kam3-dl-4096-sha512': field('modp16'),
  'iso-kam3-ec-p256-sha256': points(p256, 33),
  'iso-kam3-ec-p521-sha512': points(p521, 66),
};

const vi = (number: bigint): Buffer => {
  const last = Buffer.of(Number(number % 128n));
  const before = number / 128n;
  return before === 0n ? last : Buffer.concat([vi(before).map((octet) => octet | 128), last]);
};
const vs = (text: string | Buffer) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([vi(BigInt(bytes.length)), bytes]);
};

export interface ClientOptions {
  readonly algorithm: MutualAlgorithmName;
  readonly scope: string;
  readonly realm: string;
  readonly user: string;
  readonly password: string;
  readonly validation: string;
  readonly vh: Buffer;
}

/** Derived once for a suite, since deriving takes longer than most tests. */
const derived = new Map<string, Buffer>();

/** Creates a client of RFC 8120, written from the RFC; the test calls each step. */
export function mutualClient({ algorithm, scope, realm, user, password, ...at }: ClientOptions) {
  const { hash, hashOctets, format, octets } = MUTUAL_ALGORITHMS[algorithm];
  const group = CLIENT_GROUPS[algorithm];
  const h = (...parts: readonly Buffer[]) => createHash(hash).update(Buffer.concat(parts)).digest();
  const secret = numberOf(randomBytes(octets - 2));
  const clientValue = group.multiple(secret);
  const terms: AuthParams = {
    version: '1',
    algorithm,
    validation: at.validation,
    'auth-scope': scope,
    realm,
  };

  function pi(): bigint {
    const salt = Buffer.concat([algorithm, scope, realm, user].map((part) => vs(part)));
    const of = JSON.stringify([password, salt.toString('hex')]);
    const known = derived.get(of) ?? pbkdf2Sync(password, salt, 16_384, hashOctets, hash);
    derived.set(of, known);
    return numberOf(known);
  }

  return {
    terms,
    clientValue,
    kex: (): AuthParams => ({ ...terms, user, kc1: clientValue.toString(format) }),

    /** Computes the session that client and server share, from 401-KEX-S1. */
    session({ sid = '', ks1 = '' }: AuthParams) {
      const serverValue = Buffer.from(ks1, format);
      const { order } = group;
      const t1 = numberOf(h(Buffer.of(1), clientValue));
      const t2 = numberOf(h(Buffer.of(2), clientValue, serverValue));
      const divisor = (secret * t1 + pi()) % order;
      const exponent = ((secret + t2) * power(divisor, order - 2n, order)) % order;
      const z = group.multiply(serverValue, exponent);
      const value = (first: number, nc: bigint, vh: Buffer) =>
        h(Buffer.of(first), clientValue, serverValue, z, vi(nc), vs(vh)).toString(format);
      return {
        sid,
        z,
        vfy: (nc: bigint | number, vh = at.vh): AuthParams => ({
          ...terms,
          sid,
          nc: String(nc),
          vkc: value(4, BigInt(nc), vh),
        }),
        vks: (nc: bigint | number, vh = at.vh) => value(3, BigInt(nc), vh),
      };
    },
  };
}
