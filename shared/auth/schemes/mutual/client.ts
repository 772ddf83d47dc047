import { createHash } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import type { Random } from '#shared/base/random.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { MUTUAL_ALGORITHMS } from './algorithms.ts';
import { curve, P_256, P_521 } from './curve.ts';
import { KAM3 } from './kam3.ts';
import { int } from './octets.ts';
import { piOf } from './pi.ts';
import { verificationValue } from './verification.ts';

/**
 * The algorithms that this client supports. Finite fields are left out, since their computations would block the
 * process.
 */
const CURVES = {
  'iso-kam3-ec-p256-sha256': curve(P_256),
  'iso-kam3-ec-p521-sha512': curve(P_521),
};

type CurveAlgorithm = keyof typeof CURVES;
const isOfCurve = (algorithm: string): algorithm is CurveAlgorithm =>
  Object.hasOwn(CURVES, algorithm);

/** The request's number within a session, and the binding to its connection (RFC 8120 section 7). */
export interface Bound {
  readonly nc: bigint;
  readonly vh: Buffer;
}

/** The keys that both sides have after an exchange. */
export interface MutualSession {
  /** Returns the parameters of req-VFY-C (RFC 8120 section 4.4). */
  verify(bound: Bound): AuthParams;
  /** True if `vks` of 200-VFY-S comes from a server that knows the password or its verifier (section 4.5). */
  isFromServer(vks: string, bound: Bound): boolean;
}

/** A client that supports Mutual. */
export interface MutualClient {
  /** The parameters of req-KEX-C1 (RFC 8120 section 4.2). */
  readonly exchange: AuthParams;
  /** Reads 401-KEX-S1 (section 4.3). Returns undefined if the client must reject the message. */
  session(answer: AuthParams): MutualSession | undefined;
}

/** Raises a number to a power. The time depends on the exponent, which is public here. */
function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base % modulus];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/**
 * Makes the messages of a client that supports Mutual (RFC 8120, RFC 8121 section 3.3) for the challenge 401-INIT.
 * Name and password are ASCII. Resolves to undefined if the client does not support the algorithm.
 */
export async function mutualClient(
  { algorithm = '', validation = '', 'auth-scope': scope = '', realm = '' }: AuthParams,
  { name, password }: { readonly name: string; readonly password: string },
  random: Random,
): Promise<MutualClient | undefined> {
  if (!isOfCurve(algorithm)) return undefined;
  const { hash, format } = MUTUAL_ALGORITHMS[algorithm];
  const group = CURVES[algorithm];
  const { order } = group;
  const h = (...parts: readonly Buffer[]) =>
    int(createHash(hash).update(Buffer.concat(parts)).digest());
  const terms = { version: '1', algorithm, validation, 'auth-scope': scope, realm };
  const secret = int(KAM3[algorithm].secret(random));
  const pi = int(await piOf({ algorithm, scope, realm, name }, password));
  const multiple = group.multiple(secret);
  if (multiple === undefined) return undefined;
  const clientValue = group.encode(multiple);
  return {
    exchange: { ...terms, user: name, kc1: clientValue.toString(format) },
    session({ sid = '', ks1 = '' }) {
      const serverValue = Buffer.from(ks1, format);
      const element = group.decode(serverValue);
      const divisor = (secret * h(Buffer.of(1), clientValue) + pi) % order;
      const shifted = secret + h(Buffer.of(2), clientValue, serverValue);
      // The group's order is prime, so this power is the multiplicative inverse.
      const times = group.times((shifted * power(divisor, order - 2n, order)) % order);
      const shared = element && times?.(element);
      if (shared === undefined) return undefined;
      const exchanged = { clientValue, serverValue, z: group.encode(shared) };
      const value = (side: 'client' | 'server', bound: Bound) =>
        verificationValue(side, algorithm, exchanged, bound).toString(format);
      return {
        verify: (bound) => ({ ...terms, sid, nc: `${bound.nc}`, vkc: value('client', bound) }),
        isFromServer: (vks, bound) => sameText(vks, value('server', bound)),
      };
    },
  };
}
