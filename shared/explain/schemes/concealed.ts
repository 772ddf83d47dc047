import { keyOf, refusalOfId } from '#shared/auth/schemes/concealed/claimed-key.ts';
import { readSigned } from '#shared/auth/schemes/concealed/credentials.ts';
import type { Credentials } from '#shared/http/auth/credentials.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
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
  section: `RFC 9729 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of Concealed. The server makes all checks that need no store, and then uses the first refusal. */
export const CONCEALED_STEPS: readonly Step[] = [
  step('form', 'k, a, s, v and p are present, without quotes, and well-formed.', '4'),
  step('algorithm', 'The server supports the algorithm s.', '4.4', ['concealed-algorithm']),
  step('tls', 'The connection is TLS 1.3, so that it exports a value.', '7', [
    'concealed-clear-text',
  ]),
  step('key', 'a is a public key for this algorithm.', '4.2', ['concealed-a']),
  step('signature', 'The key a has signed the value that this connection exports.', '3.3', [
    'concealed-p',
  ]),
  step('verification', 'v is the rest of the value that this connection exports.', '6.3', [
    'concealed-v',
  ]),
  step('id', 'k is the id of the key a.', '4.1', ['concealed-k']),
  step('registered', 'The key is registered.', '6.3', [
    'concealed-unknown',
    'concealed-realm',
    'concealed-owner',
  ]),
];

/** Returns the reason for which a server refuses the proof without regard to its connection. */
function refusalOf(credentials: Credentials): Refusal | undefined {
  const read = readSigned(credentials);
  if ('refusal' in read) return read;
  const key = keyOf(read.scheme, read.proof);
  return 'refusal' in key ? key : refusalOfId(key, read.proof);
}

/** RFC 9729. */
export const explainConcealed: ExplainedCredentials = (credentials) => {
  const tls = 'Only client and server know the value that their connection exports.';
  return {
    parts: [],
    checks: checksOf(CONCEALED_STEPS, refusalOf(credentials), {
      tls: 'Only the server knows its connection.',
      signature: tls,
      verification: tls,
      registered: 'Only the store knows.',
    }),
  };
};
