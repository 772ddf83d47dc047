import { createHmac } from 'node:crypto';
import { type Clock, epochSeconds } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import type { Random } from '#shared/base/random.ts';

/** `stale`: issued here, but expired. `unknown`: not issued here, or issued for another context. */
export type NonceState = 'fresh' | 'stale' | 'unknown';

/** Stateless nonces (RFC 9449 section 9): a process accepts the nonces of all processes with the same secret. */
export interface Nonces {
  /** Issues a nonce that cannot be predicted without the secret. It is valid for one `context`, such as a realm. */
  issue(context: string): string;
  check(nonce: string, context: string): NonceState;
  /** Returns when a nonce of this server was made, in milliseconds since the epoch: a whole second. */
  madeAt(nonce: string): number;
  /** True if a fresh nonce is in its last minute, so that the client should be given the next one. */
  ending(nonce: string): boolean;
  /** Seconds after which a nonce issued now is certainly stale. */
  readonly lifetime: number;
}

/** Seconds for which a nonce is valid, long enough for a client that already has the previous nonce. */
const GOOD = 180;
/** Seconds by which the clock of another process may be ahead. */
const AHEAD = 60;
/** Seconds before the end of a nonce in which `ending` is true. */
const ENDING = 60;
/** Bytes of the salt, which makes nonces of the same second differ. */
const SALT = 12;

/** Matches the part of a nonce that its MAC covers: the clock's second, and the salt if the nonce has one. */
const MARK = /^\d+(?:\.[\w-]+)?(?=\.[\w-]+$)/;

export interface NoncesOptions {
  readonly secret: Buffer;
  readonly clock: Clock;
  /** Makes each nonce differ from all others, for a scheme that counts the uses of a nonce. */
  readonly random?: Random;
}

export function createNonces({ secret, clock, random }: NoncesOptions): Nonces {
  const secondOf = (nonce: string) => Number.parseInt(nonce, 10);
  const ageOf = (nonce: string) => epochSeconds(clock) - secondOf(nonce);
  const sealed = (mark: string, context: string) =>
    `${mark}.${createHmac('sha256', secret).update(`${mark} ${context}`).digest('base64url')}`;

  return {
    lifetime: GOOD + AHEAD,

    issue(context) {
      const salt = random && `.${random(SALT).toString('base64url')}`;
      return sealed(`${epochSeconds(clock)}${salt ?? ''}`, context);
    },

    check(nonce, context) {
      const [mark] = MARK.exec(nonce) ?? [''];
      if (!sameText(nonce, sealed(mark, context))) return 'unknown';
      const age = ageOf(nonce);
      return age >= -AHEAD && age < GOOD ? 'fresh' : 'stale';
    },

    madeAt: (nonce) => secondOf(nonce) * 1000,

    ending: (nonce) => ageOf(nonce) >= GOOD - ENDING,
  };
}
