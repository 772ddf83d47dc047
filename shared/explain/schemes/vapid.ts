import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';
import { partsOfJwt, readJwt } from './jwt.ts';

const step = (name: string, check: string, section: string, refusals?: RegExp): Step => ({
  name,
  check,
  section: `RFC 8292 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of a push service, as `createVapid` makes them. */
export const VAPID_STEPS: readonly Step[] = [
  step(
    'shown',
    'The sender shows credentials, if the subscription is for one key.',
    '4.2',
    /^This subscription is for one/,
  ),
  step('form', 't is a JWT of ES256, and k the public key of an application server.', '3'),
  step(
    'key',
    'k is the key for which the subscription was made.',
    '4.2',
    /restricted to another key/,
  ),
  step('signature', 'The key k has signed t.', '2', /has not signed/),
  step('audience', 'aud is the origin of the push service.', '2', /^aud has to be/),
  step('time', 'exp is not past, and at most 24 hours ahead.', '2', /^exp |^nbf /),
];

/** RFC 8292. */
export const explainVapid: ExplainedCredentials = ({ params = {} }, surroundings) => {
  const { t, k } = params;
  const refusal = t === undefined || k === undefined ? 't or k is missing' : undefined;
  return {
    parts: t === undefined ? [] : partsOfJwt(readJwt(t), surroundings),
    checks: checksOf(VAPID_STEPS, refusal, {
      key: 'Only the server knows.',
      signature: 'The push service verifies it with k.',
      audience: 'The push service compares it with itself.',
      time: 'The push service compares it with the time.',
    }),
  };
};
