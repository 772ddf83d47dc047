import { performance } from 'node:perf_hooks';
import {
  MUTUAL_ALGORITHM_NAMES,
  MUTUAL_ALGORITHMS,
} from '#shared/auth/schemes/mutual/algorithms.ts';
import type { MutualAlgorithmName } from '#shared/auth/schemes/mutual/algorithms.ts';
import { curve, P_256, P_521 } from '#shared/auth/schemes/mutual/curve.ts';
import { finiteField } from '#shared/auth/schemes/mutual/finite-field.ts';
import type { Group } from '#shared/auth/schemes/mutual/group.ts';
import { KAM3 } from '#shared/auth/schemes/mutual/kam3.ts';
import { int } from '#shared/auth/schemes/mutual/octets.ts';
import { systemRandom } from '#shared/base/random.ts';

const ROUNDS = 11;

/** Milliseconds, the median. */
function median(work: () => void): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return times.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? 0;
}

/** Two powers with a whole exponent, without which there is neither K_s1 nor z (RFC 8121 section 3). */
const twoPowers =
  <Element>({ times, multiple }: Group<Element>) =>
  (secret: bigint) => {
    const [power, base] = [times(secret), multiple(3n)];
    if (base !== undefined) for (let time = 0; time < 2; time += 1) power?.(base);
  };

const POWERS: Readonly<Record<MutualAlgorithmName, (secret: bigint) => void>> = {
  'iso-kam3-dl-2048-sha256': twoPowers(finiteField('modp14')),
  'iso-kam3-dl-4096-sha512': twoPowers(finiteField('modp16')),
  'iso-kam3-ec-p256-sha256': twoPowers(curve(P_256)),
  'iso-kam3-ec-p521-sha512': twoPowers(curve(P_521)),
};

/** What a key exchange computes, and how much of it is OpenSSL's two powers; a line for each algorithm. */
export function exchangeCosts(): string[] {
  return MUTUAL_ALGORITHM_NAMES.map((name) => {
    const { secret, verifier, exchange } = KAM3[name];
    const { hashOctets } = MUTUAL_ALGORITHMS[name];
    const [pi, other] = [systemRandom(hashOctets), systemRandom(hashOctets)];
    const [j, clientValue] = [verifier(pi), verifier(other)];
    const whole = median(() => void exchange(secret(systemRandom), pi, clientValue, j));
    const powers = median(() => POWERS[name](int(secret(systemRandom))));
    return `${name}: ${whole.toFixed(1)} ms, of which OpenSSL's two powers are ${powers.toFixed(1)}.`;
  });
}
