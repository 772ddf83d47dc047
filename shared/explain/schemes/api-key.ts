import { parseApiKey } from '#shared/people/api-key.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { RefusalCode } from '#shared/refusals/table.ts';
import { checksOf, type Step } from '../checks.ts';
import type { Explained } from '../explained.ts';

const step = (name: string, check: string, refusals?: readonly RefusalCode[]): Step => ({
  name,
  check,
  section: 'no standard',
  ...(refusals && { refusals }),
});

/** The checks of an API key, as `apiKey` makes them. */
export const API_KEY_STEPS: readonly Step[] = [
  step('form', 'The key is complete: its checksum is right.'),
  step('secret', 'The id is known, and the hash of the secret equals the stored hash.', [
    'api-key-wrong',
  ]),
  step('realm', 'The key is for this realm, and has not expired.', [
    'api-key-realm',
    'api-key-demo',
    'api-key-ended',
  ]),
];

/** Explains an API key of Countersign. */
export function explainApiKey(key: string): Explained {
  const parsed = parseApiKey(key);
  return {
    what: 'API key',
    standard: 'no standard',
    parts: parsed
      ? [
          { name: 'id', value: parsed.id },
          {
            name: 'secret',
            value: parsed.secret,
            note: 'The server stores only a hash of the secret.',
          },
        ]
      : [],
    checks: checksOf(API_KEY_STEPS, parsed ? undefined : refuse('api-key-form'), {
      secret: 'Only the store knows.',
      realm: 'Only the store knows.',
    }),
  };
}
