import { hashToCurve, hashToScalar, sha384 } from './hash-to-curve.ts';
import type { Blinded } from './blinded.ts';
import { inverse, randomBelow, toInteger, toOctets } from './numbers.ts';
import type { Random } from './numbers.ts';
import {
  COORDINATE_OCTETS,
  GENERATOR,
  IDENTITY,
  ORDER,
  POINT_OCTETS,
  add,
  deserialize,
  multiply,
  serialize,
} from './p384.ts';
import type { Point } from './p384.ts';

/** OPRF(P-384, SHA-384) in the mode VOPRF (RFC 9497 sections 4.4 and 3.1). */
const CONTEXT = 'OPRFV1-\u0001-P384-SHA384';
const TO_GROUP = Buffer.from(`HashToGroup-${CONTEXT}`);
const TO_SCALAR = Buffer.from(`HashToScalar-${CONTEXT}`);
const SEED = Buffer.from(`Seed-${CONTEXT}`);

const SCALAR_OCTETS = COORDINATE_OCTETS;
const PROOF_OCTETS = 2 * SCALAR_OCTETS;

/** The client of section 3.3.2. RFC 9578 section 5.2 defines the form of responses. */
export function blindVoprf(publicKey: Uint8Array, input: Uint8Array, random: Random): Blinded {
  const key = deserialize(publicKey);
  const scalar = randomBelow(ORDER, random);
  const blinded = multiply(scalar, hashToCurve(input, TO_GROUP));
  return {
    request: serialize(blinded),
    finalize: (response) => {
      if (response.length !== POINT_OCTETS + PROOF_OCTETS) throw new RangeError('not a response');
      const evaluated = deserialize(response.subarray(0, POINT_OCTETS));
      const proof = response.subarray(POINT_OCTETS);
      if (!proves(proof, key, [blinded], [evaluated])) {
        throw new Error('the issuer did not use the key that it publishes');
      }
      return outputOf(input, scalar, evaluated);
    },
  };
}

/** Finalize without the check of the proof. */
export function outputOf(input: Uint8Array, scalar: bigint, evaluated: Point): Buffer {
  const unblinded = serialize(multiply(inverse(scalar, ORDER), evaluated));
  return sha384(framed(input), framed(unblinded), Buffer.from('Finalize'));
}

/**
 * VerifyProof (section 2.2.2): whether each evaluated element is the blinded element multiplied by the
 * key's logarithm.
 */
export function proves(
  proof: Uint8Array,
  key: Point,
  blinded: readonly Point[],
  evaluated: readonly Point[],
): boolean {
  const c = toInteger(proof.subarray(0, SCALAR_OCTETS));
  const s = toInteger(proof.subarray(SCALAR_OCTETS));
  if (proof.length !== PROOF_OCTETS || c >= ORDER || s >= ORDER) return false;
  const [m, z] = composites(key, blinded, evaluated);
  const t2 = add(multiply(s, GENERATOR), multiply(c, key));
  const t3 = add(multiply(s, m), multiply(c, z));
  if (t2.z === 0n || t3.z === 0n) return false;
  const points = [key, m, z, t2, t3].map((point) => framed(serialize(point)));
  return hashToScalar(Buffer.concat([...points, Buffer.from('Challenge')]), TO_SCALAR) === c;
}

/** ComputeComposites (section 2.2.2): combines all pairs into one. */
function composites(key: Point, blinded: readonly Point[], evaluated: readonly Point[]) {
  const seed = sha384(framed(serialize(key)), framed(SEED));
  let [m, z] = [IDENTITY, IDENTITY];
  for (const [index, one] of blinded.entries()) {
    const other = evaluated[index] ?? IDENTITY;
    const pair = [framed(serialize(one)), framed(serialize(other))];
    const transcript = [framed(seed), toOctets(index, 2), ...pair, Buffer.from('Composite')];
    const scalar = hashToScalar(Buffer.concat(transcript), TO_SCALAR);
    m = add(m, multiply(scalar, one));
    z = add(z, multiply(scalar, other));
  }
  return [m, z] as const;
}

/** Octets with their length in two octets before them. */
function framed(octets: Uint8Array): Buffer {
  return Buffer.concat([toOctets(octets.length, 2), octets]);
}
