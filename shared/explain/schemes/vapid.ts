import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';
import { partsOfJwt, readJwt } from './jwt.ts';

const VAPID_STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 't is a JWT, and k the public key of an application server.',
    section: 'RFC 8292 section 3',
  },
  { name: 'signature', check: 'The key k has signed t.', section: 'RFC 8292 section 4' },
  {
    name: 'claims',
    check: 'aud is the origin of the push service, and exp at most 24 hours ahead.',
    section: 'RFC 8292 section 2',
  },
  {
    name: 'key',
    check: 'k is the key to which the subscription was restricted.',
    section: 'RFC 8292 section 4.2',
  },
];

/** RFC 8292. */
export const explainVapid: ExplainedCredentials = ({ params = {} }, surroundings) => {
  const { t, k } = params;
  const refusal = t === undefined || k === undefined ? 't or k is missing' : undefined;
  return {
    parts: t === undefined ? [] : partsOfJwt(readJwt(t), surroundings),
    checks: checksOf(VAPID_STEPS, refusal, {
      signature: 'The push service verifies it with k.',
      claims: 'The push service compares them with itself and the time.',
      key: 'Only the server knows.',
    }),
  };
};
