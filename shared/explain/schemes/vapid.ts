import { readVapid, verifiedJws } from '#shared/auth/schemes/vapid/vapid.ts';
import type { RefusalCode } from '#shared/refusals/table.ts';
import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';
import { partsOfJwt, readJwt } from './jwt.ts';

const step = (
  name: string,
  check: string,
  section: string,
  refusals?: readonly RefusalCode[],
): Step => ({
  name,
  check,
  section: `RFC 8292 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of a push service, as `createVapid` makes them. */
export const VAPID_STEPS: readonly Step[] = [
  step('shown', 'The sender sends credentials, if the subscription is only for one key.', '4.2', [
    'vapid-none',
  ]),
  step(
    'form',
    't is a JWT with the algorithm ES256, and k is the public key of an application server.',
    '3',
  ),
  step('key', 'k is the key for which the subscription was made.', '4.2', ['vapid-key']),
  step('signature', 'The key k has signed t.', '2', ['vapid-signature']),
  step('audience', 'aud is the origin of the push service.', '2', ['vapid-aud']),
  step('time', 'exp is in the future, at most 24 hours ahead.', '2', [
    'vapid-exp-missing',
    'vapid-exp',
    'vapid-nbf',
    'vapid-early',
    'vapid-expired',
    'vapid-long',
  ]),
];

/** RFC 8292. */
export const explainVapid: ExplainedCredentials = ({ params = {} }, surroundings) => {
  const { t } = params;
  const read = readVapid(params);
  const verified = 'refusal' in read ? read : verifiedJws(read.token, read.key);
  return {
    parts: t === undefined ? [] : partsOfJwt(readJwt(t), surroundings),
    checks: checksOf(VAPID_STEPS, 'refusal' in verified ? verified : undefined, {
      key: 'Only the push service knows the key of the subscription.',
      audience: 'The push service compares aud with its own origin.',
      time: 'The push service compares exp with its clock.',
    }),
  };
};
