import { createHash } from 'node:crypto';
import type { Random } from '#shared/base/random.ts';
import { MUTUAL_ALGORITHMS, type MutualAlgorithmName } from './algorithms.ts';
import { curve, P_256, P_521 } from './curve.ts';
import { finiteField } from './finite-field.ts';
import type { Group } from './group.ts';
import { int, octets } from './octets.ts';

/** The computations of the server in RFC 8121. Numbers are encoded by OCTETS, points by P. */
export interface Kam3 {
  /** OCTETS(S_s1): a number from 1 to r - 1, with equal probability (RFC 8121 sections 3.2 and 3.3). */
  secret(random: Random): Buffer;
  /** Computes J(pi). Throws if pi is a multiple of the order, which happens for no known password. */
  verifier(pi: Buffer): Buffer;
  /** True if the value can be a K_c1 or a J. */
  isElement(value: Buffer): boolean;
  /**
   * Returns K_s1 followed by z, from S_s1, J and K_c1 (sections 3.2 and 3.3). For a person without a J it uses a J
   * made from `nobody` in place of pi. That J is computed for every person, so that the time is the same. Returns
   * undefined if the exchange must be rejected.
   */
  exchange(
    secret: Buffer,
    nobody: Buffer,
    clientValue: Buffer,
    verifier?: Buffer,
  ): Buffer | undefined;
}

function kam3<Element>(name: MutualAlgorithmName, group: Group<Element>): Kam3 {
  const { hash } = MUTUAL_ALGORITHMS[name];
  const t = (first: number, ...values: readonly Buffer[]) =>
    int(
      createHash(hash)
        .update(Buffer.concat([Buffer.of(first), ...values]))
        .digest(),
    );

  function verifierOf(pi: Buffer): Buffer {
    const verifier = group.multiple(int(pi));
    if (verifier === undefined) throw new RangeError('a password without a verifier');
    return group.encode(verifier);
  }

  return {
    secret(random) {
      const bits = group.order.toString(2).length;
      const length = Math.ceil(bits / 8);
      for (;;) {
        const secret = BigInt.asUintN(bits, int(random(length)));
        if (secret > 0n && secret < group.order) return octets(secret, length);
      }
    },

    verifier: verifierOf,

    isElement: (value) => group.decode(value) !== undefined,

    exchange(secret, nobody, clientValue, verifier) {
      const ofNobody = verifierOf(nobody);
      const [j, kc1, times] = [
        group.decode(verifier ?? ofNobody),
        group.decode(clientValue),
        group.times(int(secret)),
      ];
      if (j === undefined || kc1 === undefined || times === undefined) return undefined;
      const tweak = group.times(t(1, clientValue))?.(kc1);
      const both = tweak && group.add(j, tweak);
      const ks1 = both && times(both);
      if (ks1 === undefined) return undefined;
      const serverValue = group.encode(ks1);
      const shift = group.multiple(t(2, clientValue, serverValue));
      const shifted = shift && group.add(kc1, shift);
      const z = shifted && times(shifted);
      return z && Buffer.concat([serverValue, group.encode(z)]);
    },
  };
}

export const KAM3: Readonly<Record<MutualAlgorithmName, Kam3>> = {
  'iso-kam3-dl-2048-sha256': kam3('iso-kam3-dl-2048-sha256', finiteField('modp14')),
  'iso-kam3-dl-4096-sha512': kam3('iso-kam3-dl-4096-sha512', finiteField('modp16')),
  'iso-kam3-ec-p256-sha256': kam3('iso-kam3-ec-p256-sha256', curve(P_256)),
  'iso-kam3-ec-p521-sha512': kam3('iso-kam3-ec-p521-sha512', curve(P_521)),
};
