import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';

/** `stale`: one of ours that has had its time. `unknown`: not ours, or issued for another context. */
export type NonceState = 'fresh' | 'stale' | 'unknown';

/** Nonces that no process has to remember (RFC 9449 section 9): processes agree by a shared secret. */
export interface Nonces {
  /** Unpredictable to whoever lacks the secret. `context` is what it is good for, such as a realm. */
  issue(context: string): string;
  check(nonce: string, context: string): NonceState;
  /** Seconds after which a nonce issued now is certainly stale. */
  readonly lifetime: number;
}

/** Seconds; a nonce is the MAC of its step of the clock. */
const STEP = 60;
/** A nonce is good in its own step and the two that follow, so that rotation breaks no client. */
const STEPS_GOOD = 3;
/** Another process's clock may be in the next step already. */
const STEPS_AHEAD = 1;

export function createNonces({ secret, clock }: { secret: Buffer; clock: Clock }): Nonces {
  const currentStep = () => Math.floor(clock.now() / 1000 / STEP);
  const issueFor = (step: number, context: string) =>
    `${step}.${createHmac('sha256', secret).update(`${step} ${context}`).digest('base64url')}`;

  return {
    lifetime: STEP * (STEPS_GOOD + STEPS_AHEAD),
    issue: (context) => issueFor(currentStep(), context),
    check(nonce, context) {
      const step = Number.parseInt(nonce, 10);
      const expected = Buffer.from(issueFor(step, context));
      const given = Buffer.from(nonce);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'unknown';
      const age = currentStep() - step;
      return age >= -STEPS_AHEAD && age < STEPS_GOOD ? 'fresh' : 'stale';
    },
  };
}
