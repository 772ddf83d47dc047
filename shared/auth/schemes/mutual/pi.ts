import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { ITERATIONS, MUTUAL_ALGORITHMS, type MutualAlgorithmName } from './algorithms.ts';
import { vs } from './octets.ts';

const derive = promisify(pbkdf2);

/** The account of a password, and the host and realm where it is valid (RFC 8120 section 5). */
export interface MutualAccount {
  readonly algorithm: MutualAlgorithmName;
  /** auth-scope. */
  readonly scope: string;
  readonly realm: string;
  readonly name: string;
}

/** Derives OCTETS(pi), off the main thread, from a password after OpaqueString (RFC 8120 section 12.2). */
export function piOf(
  { algorithm, scope, realm, name }: MutualAccount,
  password: string,
): Promise<Buffer> {
  const { hash, hashOctets } = MUTUAL_ALGORITHMS[algorithm];
  const salt = Buffer.concat([algorithm, scope, realm, name].map(vs));
  return derive(password, salt, ITERATIONS, hashOctets, hash);
}
