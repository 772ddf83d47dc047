import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { Line, type Turn } from '#shared/base/line.ts';
import { portion } from '#shared/base/workers.ts';
import { busy } from '#shared/http/answer.ts';

/**
 * Hashes and checks passwords, each call in the order of its queue. Both methods reject with `HttpError` 503 if too
 * many calls wait.
 */
export interface Passwords {
  /** Resolves to the hash in the PHC string format. */
  hash(turn: Turn, password: string): Promise<string>;
  /** Checks a password. Without a hash it does the same work on a hash that no password has, and resolves to false. */
  verify(turn: Turn, hash: string | undefined, password: string): Promise<boolean>;
}

/** The two functions of `@node-rs/argon2` that do the work, off the main thread. */
export interface Argon2 {
  readonly hash: typeof hash;
  readonly verify: typeof verify;
}

/**
 * The parameters of argon2id, the default algorithm (OWASP Password Storage Cheat Sheet): 19 MiB and 5 ms of one
 * core.
 */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A hash with the parameters and lengths of real hashes, which no password has. */
const NOBODY = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Matches 16 and 32 bytes in unpadded base64, in whose last characters the unused bits are 0. */
const PHC = new RegExp(
  String.raw`^\$argon2id\$v=19\$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}` +
    String.raw`\$[A-Za-z0-9+/]{21}[AQgw]\$[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]$`,
);

/** True if the text is a hash with these parameters, so that checking it takes as long as checking any other. */
export const isPasswordHash = (text: string) => PHC.test(text);

/** Passwords use at most three of the four threads of Node's pool, so that one is left for signatures and files. */
const LANES = portion(Math.min(availableParallelism(), 3));

/** How many calls may wait: less than a second's work. */
const WAITING = portion(64);

export function createPasswords(
  argon2: Argon2 = { hash, verify },
  line = new Line({ lanes: LANES, most: WAITING, tooMany: busy }),
): Passwords {
  return {
    hash: (turn, password) => line.run(turn, () => argon2.hash(password, PARAMETERS)),
    async verify(turn, known, password) {
      const right = await line.run(turn, () => argon2.verify(known ?? NOBODY, password));
      return right && known !== undefined;
    },
  };
}
