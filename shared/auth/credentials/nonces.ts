import { createHmac } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import type { Random } from '#shared/base/random.ts';

/** `stale`: issued here, but expired. `unknown`: not issued here, or issued for another context. */
export type NonceState = 'fresh' | 'stale' | 'unknown';

/** Stateless nonces (RFC 9449 section 9): processes that share a secret accept each other's. */
export interface Nonces {
  /** Issues a nonce that nobody without the secret can predict. It is valid for one `context`, such as a realm. */
  issue(context: string): string;
  check(nonce: string, context: string): NonceState;
  /** True if a fresh nonce is in its last minute, so that the client should be given the next one. */
  ending(nonce: string): boolean;
  /** Seconds after which a nonce issued now is certainly stale. */
  readonly lifetime: number;
}

/** Seconds in a step of the clock; a nonce is the MAC of its step. */
const STEP = 60;
/** A nonce is good in its own step and the two that follow, so that rotation breaks no client. */
const STEPS_GOOD = 3;
/** Another process's clock may be in the next step already. */
const STEPS_AHEAD = 1;
/** Length in bytes of the salt, by which the nonces of one step differ. */
const SALT = 12;

/** Matches the part of a nonce that its MAC covers: the step of the clock, and the salt if there is one. */
const MARK = /^\d+(?:\.[\w-]+)?(?=\.[\w-]+$)/;

export interface NoncesOptions {
  readonly secret: Buffer;
  readonly clock: Clock;
  /** Makes each nonce differ from all others, for a scheme that counts the uses of a nonce. */
  readonly random?: Random;
}

export function createNonces({ secret, clock, random }: NoncesOptions): Nonces {
  const currentStep = () => Math.floor(clock.now() / 1000 / STEP);
  const ageOf = (nonce: string) => currentStep() - Number.parseInt(nonce, 10);
  const sealed = (mark: string, context: string) =>
    `${mark}.${createHmac('sha256', secret).update(`${mark} ${context}`).digest('base64url')}`;

  return {
    lifetime: STEP * (STEPS_GOOD + STEPS_AHEAD),

    issue(context) {
      const salt = random && `.${random(SALT).toString('base64url')}`;
      return sealed(`${currentStep()}${salt ?? ''}`, context);
    },

    check(nonce, context) {
      const [mark] = MARK.exec(nonce) ?? [''];
      if (!sameText(nonce, sealed(mark, context))) return 'unknown';
      const age = ageOf(nonce);
      return age >= -STEPS_AHEAD && age < STEPS_GOOD ? 'fresh' : 'stale';
    },

    ending: (nonce) => ageOf(nonce) >= STEPS_GOOD - 1,
  };
}
