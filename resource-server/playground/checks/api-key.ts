import { parseApiKey } from '#shared/people/api-key.ts';
import { checksOf, type Step } from '#shared/explain/checks.ts';
import { API_KEY_STEPS } from '#shared/explain/schemes/api-key.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import { type Checks, ofCredentials, type Recorded } from '../recorded.ts';

const STEPS: readonly Step[] = [
  {
    name: 'once',
    check: 'The field comes once.',
    section: 'RFC 9110 section 5.3',
    refusals: ['bad-request'],
  },
  ...API_KEY_STEPS,
];

/** A key of Countersign, in a field of its own. */
export const apiKeyChecks: Checks = ofCredentials((recorded) =>
  checksOf(STEPS, refusalOf(recorded)),
);

function refusalOf({ asked, apiKey }: Recorded): Refusal | undefined {
  const [key = '', another] = asked.lines('x-api-key');
  if (another !== undefined)
    return refuseSpace('bad-request', { why: 'The field X-API-Key may be sent once only.' });
  if (parseApiKey(key) === undefined) return refuse('api-key-form');
  return key === apiKey ? undefined : refuse('api-key-wrong');
}
