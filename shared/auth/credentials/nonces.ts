import { createHmac } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import type { Random } from '#shared/base/random.ts';

/** `stale`: one of ours that has had its time. `unknown`: not ours, or issued for another context. */
export type NonceState = 'fresh' | 'stale' | 'unknown';

/** Nonces that no process has to remember (RFC 9449 section 9): processes agree by a shared secret. */
export interface Nonces {
  /** Unpredictable to whoever lacks the secret. `context` is what it is good for, such as a realm. */
  issue(context: string): string;
  check(nonce: string, context: string): NonceState;
  /** Whether a fresh one is in its last minute, so that its user should be given the next. */
  ending(nonce: string): boolean;
  /** Seconds after which a nonce issued now is certainly stale. */
  readonly lifetime: number;
}

/** Seconds; a nonce is the MAC of its step of the clock. */
const STEP = 60;
/** A nonce is good in its own step and the two that follow, so that rotation breaks no client. */
const STEPS_GOOD = 3;
/** Another process's clock may be in the next step already. */
const STEPS_AHEAD = 1;
/** Bytes that tell apart the nonces of one step. */
const SALT = 12;

/** What the MAC is over: a step of the clock, and the salt if there is one. */
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
