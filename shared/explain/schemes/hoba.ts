import { parseResult } from '#shared/auth/schemes/hoba/result.ts';
import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

const step = (name: string, check: string, section: string, refusals?: RegExp): Step => ({
  name,
  check,
  section: `RFC 7486 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of HOBA, as its `authenticate` makes them. */
export const HOBA_STEPS: readonly Step[] = [
  step(
    'tls',
    'Nobody else can read the connection: it is TLS, or stays on this machine.',
    '8.1',
    /^HOBA needs TLS/,
  ),
  step('host', 'The request is for this origin.', '3', /^asked for by the name of another origin/),
  step('form', 'The result is kid.challenge.nonce.sig in base64url.', '2'),
  step(
    'challenge',
    'The server has made the challenge, within the last max-age seconds.',
    '3',
    /^a challenge that is /,
  ),
  step(
    'signature',
    'The key kid is registered for this origin, and has signed nonce, algorithm, origin, realm, kid and challenge.',
    '2',
    /^no such key, or the signature is wrong|^the key of nobody/,
  ),
  step(
    'sign-out',
    'Nobody has signed out with the key since the challenge.',
    '6.3',
    /^a challenge from before signing out/,
  ),
  step('replay', 'The signature is new.', '3', /^signed for once already/),
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
    checks: checksOf(HOBA_STEPS, result ? undefined : 'result is missing or malformed', {
      tls: 'Only the server knows its connection.',
      host: 'The server compares Host with its own.',
      challenge: 'Only the server knows its challenges.',
      signature: 'Only the server has the public key.',
      'sign-out': 'Only the store knows.',
      replay: 'Only the store knows.',
    }),
  };
};
