import { decodeMessage } from '#shared/auth/schemes/scram/base64.ts';
import { readMessage } from '#shared/auth/schemes/scram/messages.ts';
import type { RefusalCode } from '#shared/refusals/table.ts';
import { checksOf, type Step } from '../checks.ts';
import type { Part } from '../explained.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

const step = (
  name: string,
  check: string,
  section: string,
  refusals?: readonly RefusalCode[],
): Step => ({
  name,
  check,
  section: `RFC ${section}`,
  ...(refusals && { refusals }),
});

const DATA = step('data', 'data is a message in base64 and UTF-8.', '7804 section 7', [
  'scram-data',
]);
const REALM = step('realm', 'realm is that of the server.', '7804 section 5', ['scram-realm']);
const FORM = 'The message has the form of RFC 5802, without channel binding.';

/** The checks of client-first-message, which proves nothing yet. */
export const SCRAM_FIRST_STEPS: readonly Step[] = [
  REALM,
  DATA,
  step('form', FORM, '5802 section 7'),
];

/** The checks of client-final-message, as `scram` makes them. */
const SCRAM_FINAL_STEPS: readonly Step[] = [
  ...SCRAM_FIRST_STEPS,
  step(
    'sid',
    'sid names an exchange that has begun. Without sid, the nonce shows which client it belongs to.',
    '7804 section 5',
    ['scram-sid', 'scram-unknown-nonce'],
  ),
  step('nonce', 'r is the nonce that client and server have made together.', '5802 section 5.1', [
    'scram-nonce',
  ]),
  step(
    'proof',
    'p shows that the client knows the password. The server computes the key of the client from p by XOR, and compares its hash with StoredKey.',
    '5802 section 3',
    ['scram-proof'],
  ),
  step('count', 'sr is not too old, and the counter before it is new.', '7804 section 5.1', [
    'scram-stale',
    'scram-used',
  ]),
];

/** Returns the steps that apply: credentials with `sid` have no count. */
export const scramFinalSteps = (sid: string | undefined): readonly Step[] =>
  SCRAM_FINAL_STEPS.filter(({ name }) => sid === undefined || name !== 'count');

/** RFC 7804. */
export const explainScram: ExplainedCredentials = ({ params = {} }) => {
  const read = readMessage(params);
  const isFinal = 'final' in read || params['sid'] !== undefined;
  const message = decodeMessage(params['data'] ?? '');
  const name = `client-${isFinal ? 'final' : 'first'}-message`;
  const decoded: readonly Part[] = message === undefined ? [] : [{ name, value: message }];
  const steps = isFinal ? scramFinalSteps(params['sid']) : SCRAM_FIRST_STEPS;
  return {
    parts: decoded,
    checks: checksOf(steps, 'refusal' in read ? read : undefined, {
      realm: COMPARED,
      sid: 'Only the server knows which exchanges have begun.',
      nonce: 'The server compares r with the nonce that it gave.',
      proof: 'Only the server has the keys that come from the password.',
      count: 'Only the server has counted the requests.',
    }),
  };
};

const COMPARED = 'The server compares realm with its own.';
