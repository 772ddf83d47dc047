import { parseResult } from '#shared/auth/schemes/hoba/result.ts';
import { refuse } from '#shared/refusals/schemes.ts';
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
  section: `RFC 7486 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of HOBA, as the scheme's `authenticate` makes them. */
export const HOBA_STEPS: readonly Step[] = [
  step('tls', 'The connection uses TLS, or does not leave this machine.', '8.1', [
    'hoba-clear-text',
  ]),
  step('host', 'The request is for this origin.', '3', ['hoba-host']),
  step('form', 'The result is kid.challenge.nonce.sig in base64url.', '2'),
  step('challenge', 'The server has made the challenge, within the last max-age seconds.', '3', [
    'hoba-challenge',
    'hoba-old',
  ]),
  step(
    'signature',
    'The key kid is registered for this origin, and has signed nonce, algorithm, origin, realm, kid and challenge.',
    '2',
    ['hoba-signature', 'hoba-no-owner'],
  ),
  step('sign-out', 'The owner has not signed out with the key since the challenge.', '6.3', [
    'hoba-signed-out',
  ]),
  step('replay', 'The signature is new.', '3', ['hoba-used']),
];

/** RFC 7486. */
export const explainHoba: ExplainedCredentials = ({ params = {} }) => {
  const result = parseResult(params['result'] ?? '');
  return {
    parts: result
      ? [
          { name: 'kid', value: result.kid },
          { name: 'challenge', value: result.challenge },
          { name: 'nonce', value: result.nonce },
          { name: 'sig', value: `${result.signature.length} octets` },
        ]
      : [],
    checks: checksOf(HOBA_STEPS, result ? undefined : refuse('hoba-form'), {
      tls: 'Only the server knows its connection.',
      host: 'The server compares Host with its own.',
      challenge: 'Only the server knows its challenges.',
      signature: 'Only the server has the public key.',
      'sign-out': 'Only the store knows.',
      replay: 'Only the store knows.',
    }),
  };
};
