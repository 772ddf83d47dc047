import { randomBytes } from 'node:crypto';

/** Randomness is an argument: returns that many bytes nobody can predict. */
export type Random = (bytes: number) => Buffer;

export const systemRandom: Random = (bytes) => randomBytes(bytes);

/** An identifier of 128 random bits that is safe in URLs, file names and header fields. */
export function randomId(random: Random): string {
  return random(16).toString('base64url');
}
