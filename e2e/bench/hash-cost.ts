import { execFileSync } from 'node:child_process';
import { createPasswords } from '#shared/people/password.ts';
import { cpuTime } from './cpu.ts';
import { median } from './statistics.ts';

/** What one hash takes. */
export interface HashCost {
  /** Of bcrypt: its number of rounds is 2 to the power of this. */
  readonly cost: number;
  /** Milliseconds of CPU time. */
  readonly bcrypt: number;
  readonly argon2id: number;
}

const PASSWORD = 'correct horse battery';
const ROUNDS = 7;
/** For each measurement, which the clock of /proc needs to be long. */
const ARGON2ID_HASHES = 40;
const BCRYPT_COST = 12;

/**
 * Measures our password hash, and of bcrypt the cost whose CPU time is nearest to it: in turns and by
 * the median, since a busy machine slows down both.
 */
export async function equalBcrypt(): Promise<HashCost> {
  const passwords = createPasswords();
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(
      await milliseconds(async () => {
        for (let time = 0; time < ARGON2ID_HASHES; time += 1) {
          await passwords.verify(undefined, PASSWORD);
        }
      }),
    );
    const htpasswd = ['-nbB', '-C', `${BCRYPT_COST}`, 'alice', PASSWORD];
    theirs.push(await milliseconds(() => execFileSync('htpasswd', htpasswd)));
  }
  const argon2id = median(ours) / ARGON2ID_HASHES;
  const cost = nearestCost(argon2id, { cost: BCRYPT_COST, milliseconds: median(theirs) });
  return { cost, argon2id, bcrypt: median(theirs) * 2 ** (cost - BCRYPT_COST) };
}

/** The cost of bcrypt, 4 to 31, that takes nearest to that many milliseconds, by the ratio. */
export function nearestCost(
  wanted: number,
  known: { readonly cost: number; readonly milliseconds: number },
): number {
  const cost = known.cost + Math.round(Math.log2(wanted / known.milliseconds));
  return Math.min(31, Math.max(4, cost));
}

/** CPU time of this process and of those it started. */
async function milliseconds(work: () => unknown): Promise<number> {
  const before = cpuTime(process.pid);
  await work();
  return (cpuTime(process.pid) - before) / 1000;
}
