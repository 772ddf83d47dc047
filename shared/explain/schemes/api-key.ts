import { parseApiKey } from '#shared/people/api-key.ts';
import { checksOf, type Step } from '../checks.ts';
import type { Explained } from '../explained.ts';

const step = (name: string, check: string, refusals?: RegExp): Step => ({
  name,
  check,
  section: 'no standard',
  ...(refusals && { refusals }),
});

/** The checks of an API key, as `apiKey` makes them. */
export const API_KEY_STEPS: readonly Step[] = [
  step('form', 'The key is whole: its checksum is right.'),
  step(
    'secret',
    'The id is known, and the hash of the secret is the one in the store.',
    /^wrong API key/,
  ),
  step('realm', 'The key is of this realm, and has not ended.', /^this API key/),
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
          { name: 'secret', value: parsed.secret, note: 'The server keeps a hash of it.' },
        ]
      : [],
    checks: checksOf(API_KEY_STEPS, parsed ? undefined : 'not an API key', {
      secret: 'Only the store knows.',
      realm: 'Only the store knows.',
    }),
  };
}
