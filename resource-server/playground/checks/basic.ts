import { parseUserPass } from '#shared/auth/schemes/basic/basic.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { BASIC_STEPS } from '#shared/explain/schemes/basic.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { type Checks, credentialsOf, ofCredentials, type RecordedMessage } from '../recorded.ts';

/** RFC 7617. */
export const basicChecks: Checks = ofCredentials(({ asked }) =>
  checksOf(BASIC_STEPS, refusalOfBasic(asked)),
);

/** Why the playground's space refuses credentials. Undefined: it takes them. */
export function refusalOfBasic(asked: RecordedMessage): Refusal | undefined {
  const sent = parseUserPass(credentialsOf(asked).token68 ?? '');
  if (sent === undefined) {
    return refuse('basic-form');
  }
  const right = sent.name === PERSON.name && sent.password === PASSWORD;
  return right ? undefined : refuse('basic-password');
}
