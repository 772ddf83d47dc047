import {
  MUTUAL_ALGORITHMS,
  type MutualAlgorithmName,
} from '#shared/auth/schemes/mutual/algorithms.ts';
import { readMessage } from '#shared/auth/schemes/mutual/message.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

const step = (name: string, check: string, section: string): Step => ({
  name,
  check,
  section: `RFC 8120 section ${section}`,
});

const STEPS: readonly Step[] = [
  step('form', 'The message has the parameters of its kind, well-formed.', '4'),
  step('terms', 'Algorithm, validation, auth-scope and realm are those of the challenge.', '4.2'),
  step('session', 'sid names a key exchange of this server, and nc is new.', '4.4'),
  step('proof', 'vkc shows that the client knows the password.', '4.4'),
];

/** RFC 8120. */
export const explainMutual: ExplainedCredentials = ({ params = {} }) => {
  const read = readOf(params);
  const missing = typeof read === 'string' ? read : undefined;
  const kind = typeof read === 'string' ? undefined : 'proof' in read ? 'req-VFY-C' : 'req-KEX-C1';
  const refusal = missing === undefined ? undefined : `${missing} is missing or malformed`;
  const open = 'Only the server knows.';
  return {
    parts: kind === undefined ? [] : [{ name: 'message', value: kind }],
    checks: checksOf(kind === 'req-KEX-C1' ? STEPS.slice(0, 2) : STEPS, refusal, {
      terms: 'The server compares them with its own.',
      session: open,
      proof: open,
    }),
  };
};

/** Reads the message by its own terms. */
function readOf(params: AuthParams) {
  const algorithm = params['algorithm']?.toLowerCase() ?? '';
  if (!isAlgorithm(algorithm)) return 'algorithm';
  const { 'auth-scope': scope = '', realm = '', validation = '' } = params;
  return readMessage(params, { algorithm, validation: validation.toLowerCase(), scope, realm });
}

const isAlgorithm = (name: string): name is MutualAlgorithmName =>
  Object.hasOwn(MUTUAL_ALGORITHMS, name);
