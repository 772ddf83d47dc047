import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  ECDH,
  type KeyObject,
} from 'node:crypto';
import { der, SEQUENCE } from '#shared/base/der.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Group } from './group.ts';
import { int, octets } from './octets.ts';

interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

/** The curve y^2 = x^3 - 3x + b modulo q (FIPS 186-4 appendix D.1.2), with a generator of prime order r. */
interface CurveParameters {
  /** The name in node:crypto. */
  readonly name: string;
  /** The object identifier of the curve. */
  readonly id: Buffer;
  readonly q: bigint;
  readonly r: bigint;
  readonly b: bigint;
  readonly generator: Point;
}

const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));

export const P_256: CurveParameters = {
  name: 'prime256v1',
  id: oid('2a8648ce3d030107'),
  q: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
  r: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  generator: {
    x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  },
};

export const P_521: CurveParameters = {
  name: 'secp521r1',
  id: oid('2b81040023'),
  q: 2n ** 521n - 1n,
  r: 0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
  b: 0x0051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
  generator: {
    x: 0x00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66n,
    y: 0x011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650n,
  },
};

/** RFC 5480 section 2.1.1. */
const EC_PUBLIC_KEY = oid('2a8648ce3d0201');

/**
 * Makes a group of RFC 8121 section 3.3. OpenSSL multiplies, in a time that does not depend on the scalar. A multiple
 * of the generator is the public key of a private key. A multiple of another point is the result of ECDH, which is
 * only the abscissa. The ordinate is computed from the abscissa of the next multiple. Sums and ordinates need a few
 * operations in the field here, so divisors are blinded.
 */
export function curve({ name, id, q, r, b, generator }: CurveParameters): Group<Point> {
  const width = Math.ceil(q.toString(2).length / 8);
  const length = Math.ceil((q.toString(2).length + 1) / 8);
  const algorithm = der(SEQUENCE, EC_PUBLIC_KEY, id);
  const modulo = (number: bigint) => ((number % q) + q) % q;
  const uncompressed = ({ x, y }: Point) =>
    Buffer.concat([Buffer.of(4), octets(x, width), octets(y, width)]);

  const pointOf = (bytes: string | Buffer): Point => {
    const point = Buffer.from(bytes);
    return { x: int(point.subarray(1, 1 + width)), y: int(point.subarray(1 + width)) };
  };

  /**
   * Inverts a number modulo q. The time of Euclid's algorithm depends on its input, so the input is blinded with a
   * random factor.
   */
  function inverse(number: bigint): bigint {
    const blind = int(systemRandom(width)) % q || 1n;
    let [rest, next] = [q, modulo(number * blind)];
    let [factor, following] = [0n, 1n];
    while (next > 0n) {
      const quotient = rest / next;
      [rest, next] = [next, rest - quotient * next];
      [factor, following] = [following, factor - quotient * following];
    }
    return modulo(factor * blind);
  }

  /**
   * Makes a private key. The generator replaces its public key (RFC 5915), since ECDH does not read it and computing
   * it would cost a multiplication.
   */
  const scalarKey = (scalar: bigint): KeyObject =>
    createPrivateKey({
      key: der(
        SEQUENCE,
        der(0x02, Buffer.of(0)),
        algorithm,
        der(
          0x04,
          der(
            SEQUENCE,
            der(0x02, Buffer.of(1)),
            der(0x04, octets(scalar, width)),
            der(0xa1, der(0x03, Buffer.of(0), uncompressed(generator))),
          ),
        ),
      ),
      format: 'der',
      type: 'pkcs8',
    });
  const pointKey = (point: Point): KeyObject =>
    createPublicKey({
      key: der(SEQUENCE, algorithm, der(0x03, Buffer.of(0), uncompressed(point))),
      format: 'der',
      type: 'spki',
    });

  return {
    order: r,

    /**
     * Decodes P' (RFC 8121 section 3.3). OpenSSL refuses points that are not on the curve, and abscissas of q and
     * above.
     */
    decode(bytes) {
      const number = int(bytes);
      const abscissa = number >> 1n;
      if (bytes.length !== length || abscissa >= q) return undefined;
      const compressed = Buffer.concat([
        Buffer.of(2 + Number(number & 1n)),
        octets(abscissa, width),
      ]);
      try {
        return pointOf(ECDH.convertKey(compressed, name, undefined, undefined, 'uncompressed'));
      } catch {
        return undefined;
      }
    },

    /** Encodes P (RFC 8121 section 3.3). */
    encode: ({ x, y }) => octets(2n * x + (y & 1n), length),

    multiple(scalar) {
      const factor = scalar % r;
      if (factor === 0n) return undefined;
      const key = createECDH(name);
      key.setPrivateKey(octets(factor, width));
      return pointOf(key.getPublicKey());
    },

    times(scalar) {
      const [factor, next] = [scalar % r, (scalar + 1n) % r];
      if (factor === 0n || next === 0n) return undefined;
      const [key, nextKey] = [scalarKey(factor), scalarKey(next)];
      return (point) => {
        const publicKey = pointKey(point);
        const x = int(diffieHellman({ privateKey: key, publicKey }));
        const nextX = int(diffieHellman({ privateKey: nextKey, publicKey }));
        const apart = point.x - x;
        const y =
          (2n * b + (point.x * x - 3n) * (point.x + x) - nextX * apart * apart) *
          inverse(2n * point.y);
        return { x, y: modulo(y) };
      };
    },

    /** Adds two points that were chosen independently, so they are in practice neither equal nor opposite. */
    add(one, other) {
      if (one.x === other.x) return undefined;
      const slope = modulo((other.y - one.y) * inverse(other.x - one.x));
      const x = modulo(slope * slope - one.x - other.x);
      return { x, y: modulo(slope * (one.x - x) - one.y) };
    },
  };
}
