import {
  MUTUAL_ALGORITHMS,
  type MutualAlgorithmName,
} from '#shared/auth/schemes/mutual/algorithms.ts';
import { readMessage, refusalOfMessage } from '#shared/auth/schemes/mutual/message.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import type { RefusalCode } from '#shared/refusals/table.ts';
import { checksOf, type Step } from '../checks.ts';
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

const MESSAGE_STEPS: readonly Step[] = [
  step('certificate', 'The server knows the certificate that the client sees.', '8120 section 7', [
    'mutual-certificate',
  ]),
  step(
    'terms',
    'Version, algorithm, validation, auth-scope and realm are the same as in the challenge.',
    '8120 section 4.2',
    ['mutual-terms'],
  ),
  step('form', 'The message has the parameters of its kind, well-formed.', '8120 section 4'),
];

/** The checks of req-KEX-C1, which proves nothing yet, as `mutual` makes them. */
export const KEY_EXCHANGE_STEPS: readonly Step[] = [
  ...MESSAGE_STEPS,
  step('element', 'kc1 is an element of the group.', '8121 section 3', ['mutual-element']),
];

/** The checks of req-VFY-C. */
export const KEY_VERIFICATION_STEPS: readonly Step[] = [
  ...MESSAGE_STEPS,
  step('session', 'sid names a key exchange of this server.', '8120 section 11', [
    'mutual-session',
  ]),
  step(
    'proof',
    'vkc shows that the client knows the password, and sees the certificate of the server.',
    '8120 section 12.2',
    ['mutual-name', 'mutual-proof'],
  ),
  step('count', 'nc is new for this session.', '8120 section 6', ['mutual-used']),
];

/** RFC 8120. */
export const explainMutual: ExplainedCredentials = ({ params = {} }) => {
  const read = readOf(params);
  const missing = typeof read === 'string' ? read : undefined;
  const kind = typeof read === 'string' ? undefined : 'proof' in read ? 'req-VFY-C' : 'req-KEX-C1';
  const refusal = missing === undefined ? undefined : refusalOfMessage(missing);
  const steps = kind === 'req-KEX-C1' ? KEY_EXCHANGE_STEPS : KEY_VERIFICATION_STEPS;
  return {
    parts: kind === undefined ? [] : [{ name: 'message', value: kind }],
    checks: checksOf(steps, refusal, {
      certificate: 'Only the server knows its connection.',
      terms: 'The server compares these values with its own.',
      element: 'The server checks kc1 in the group.',
      session: 'Only the server knows its sessions.',
      proof: 'Only the client and the server that agreed on a key can compute it.',
      count: 'Only the server has counted the requests.',
    }),
  };
};

/** Reads the message, using the terms that it contains. */
function readOf(params: AuthParams) {
  const algorithm = params['algorithm']?.toLowerCase() ?? '';
  if (!isAlgorithm(algorithm)) return 'algorithm';
  const { 'auth-scope': scope = '', realm = '', validation = '' } = params;
  return readMessage(params, { algorithm, validation: validation.toLowerCase(), scope, realm });
}

const isAlgorithm = (name: string): name is MutualAlgorithmName =>
  Object.hasOwn(MUTUAL_ALGORITHMS, name);
