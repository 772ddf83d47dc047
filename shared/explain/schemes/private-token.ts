import { readToken } from '#shared/auth/schemes/private-token/read-token.ts';
import { BLIND_RSA, TOKEN_TYPES, VOPRF } from '#shared/private-token/token-types.ts';
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
  section: `RFC 9577 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of PrivateToken, as the scheme's `authenticate` makes them. */
export const PRIVATE_TOKEN_STEPS: readonly Step[] = [
  {
    name: 'tls',
    check: 'The connection uses TLS, or does not leave this machine.',
    section: 'RFC 9110 section 17.16.1',
    refusals: ['private-token-clear-text'],
  },
  step(
    'form',
    'The token is base64url. The site accepts its type, and its length is right.',
    '2.2.1',
  ),
  step('challenge', 'challenge_digest is the hash of a challenge of this server.', '2.2.3', [
    'private-token-challenge',
  ]),
  step('key', 'The issuer uses the key that token_key_id names.', '2.2.3', [
    'private-token-key',
    'private-token-old-key',
    'private-token-ended',
    'private-token-forgotten',
  ]),
  step('authenticator', 'The issuer has made the authenticator with this key.', '2.2.3', [
    'private-token-authenticator',
  ]),
  step('spent', 'The token was not used before.', '2.2', ['private-token-used']),
];

/** All types: only the server knows the types that its spaces accept. */
const TYPES = [VOPRF, BLIND_RSA] as const;

/** RFC 9577. */
export const explainPrivateToken: ExplainedCredentials = ({ params = {} }) => {
  const token = readToken(params['token'], TYPES);
  return {
    parts:
      'refusal' in token
        ? []
        : [
            { name: 'token_type', value: `${token.type} (${TOKEN_TYPES[token.type].name})` },
            {
              name: 'nonce',
              value: token.nonce.toString('hex'),
              note: 'The client has chosen the nonce.',
            },
            { name: 'challenge_digest', value: token.challengeDigest.toString('hex') },
            { name: 'token_key_id', value: token.keyId.toString('hex') },
            {
              name: 'authenticator',
              value: `${token.authenticator.length} octets`,
              note: 'The issuer signed blindly: it cannot tell which client got this token.',
            },
          ],
    checks: checksOf(PRIVATE_TOKEN_STEPS, 'refusal' in token ? token : undefined, {
      tls: 'Only the server knows its connection.',
      challenge: 'Only the server knows its challenges.',
      key: 'The server asks the directory of the issuer.',
      authenticator: 'The server needs the key of the issuer for this.',
      spent: 'Only the server knows which tokens it has seen.',
    }),
  };
};
