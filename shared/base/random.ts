import { randomBytes } from 'node:crypto';

/** Randomness is an argument: it returns that many unpredictable bytes. */
export type Random = (bytes: number) => Buffer;

/** Bytes that are drawn at once: a call of the system costs as much for these as for sixteen. */
const POOL = 8192;

let pool = Buffer.alloc(0);
/** The position of the first unused byte in the pool. */
let next = 0;

export const systemRandom: Random = (bytes) => {
  if (bytes > POOL / 64) return randomBytes(bytes);
  if (pool.length - next < bytes) [pool, next] = [randomBytes(POOL), 0];
  const given = Buffer.allocUnsafe(bytes);
  for (let index = 0; index < bytes; index += 1) {
    given[index] = pool[next] ?? 0;
    pool[next++] = 0; // nobody finds here what was given to somebody
  }
  return given;
};

/** An identifier of 128 random bits that is safe in URLs, file names and header fields. */
export function randomId(random: Random): string {
  return random(16).toString('base64url');
}
