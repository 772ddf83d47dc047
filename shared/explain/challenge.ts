import { type Challenge, parseChallenges } from '#shared/http/auth/challenge.ts';
import { decodeBase64url } from '#shared/private-token/base64url.ts';
import { TOKEN_TYPES, tokenType } from '#shared/private-token/token-types.ts';
import { parseChallenge } from '#shared/private-token/token-challenge.ts';
import { decodeMessage } from '#shared/auth/schemes/scram/base64.ts';
import { type Check, checksOf, type Step } from './checks.ts';
import type { Explained, Part } from './explained.ts';
import { own } from './own.ts';
import { partsOf } from './schemes/parameters.ts';

const GRAMMAR = 'RFC 9110 section 11.6.1';

const STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 'The field is a list of challenges, and no challenge has a parameter twice.',
    section: GRAMMAR,
  },
  {
    name: 'required',
    check: 'Each challenge has the parameters that a client of the scheme needs.',
    section: GRAMMAR,
  },
];

/** The parameters that a challenge must have, by the scheme in lower case. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  basic: ['realm'],
  digest: ['realm', 'nonce', 'qop'],
  hoba: ['challenge', 'max-age'],
  mutual: ['version', 'algorithm', 'validation', 'realm'],
  privatetoken: ['challenge'],
};

/** Functions for the encoded data in a challenge, by the scheme in lower case. */
const DECODED: Readonly<Record<string, (challenge: Challenge) => readonly Part[]>> = {
  privatetoken({ params = {} }) {
    const read = parseChallenge(decodeBase64url(params['challenge'] ?? '') ?? Buffer.alloc(0));
    if (read === undefined) return [];
    const { type, issuer, context, origins } = read;
    const known = tokenType(type);
    return [
      {
        name: 'token_type',
        value: known === undefined ? `${type}` : `${type} (${TOKEN_TYPES[known].name})`,
        note: 'The kind of signature that the issuer makes.',
        section: 'RFC 9578 section 8.2',
      },
      { name: 'issuer_name', value: issuer, note: 'The issuer that the client asks for a token.' },
      {
        name: 'redemption_context',
        value: Buffer.from(context).toString('hex') || 'none',
        note:
          context.length > 0
            ? 'The token is valid only in this context.'
            : 'The token is valid in any context.',
      },
      {
        name: 'origin_info',
        value: origins.join(', ') || 'any',
        note: 'The sites at which the token is valid.',
      },
    ];
  },
  'scram-sha-256': serverFirst,
  'scram-sha-1': serverFirst,
};

function serverFirst({ params = {} }: Challenge): readonly Part[] {
  const message = decodeMessage(params['data'] ?? '');
  return message ? [{ name: 'server-first-message', value: message }] : [];
}

/** Explains the value of WWW-Authenticate or Proxy-Authenticate: each challenge, as its client reads it. */
export function explainChallenges(value: string): readonly Explained[] {
  const challenges = parseChallenges(value);
  if (challenges === undefined || challenges.length === 0) {
    const reason = challenges ? 'there is no challenge' : 'it is malformed';
    const checks = checksOf(STEPS, { reason, step: 'form' });
    return [{ what: 'Challenges', standard: GRAMMAR, parts: [], checks }];
  }
  return challenges.map((challenge) => ({
    what: `${challenge.scheme} challenge`,
    standard: GRAMMAR,
    parts: [
      ...partsOf(challenge.scheme, challenge),
      ...(own(DECODED, challenge.scheme.toLowerCase())?.(challenge) ?? []),
    ],
    checks: checksOfChallenge(challenge),
  }));
}

function checksOfChallenge({ scheme, params = {} }: Challenge): readonly Check[] {
  const required = own(REQUIRED, scheme.toLowerCase()) ?? [];
  const missing = required.find((name) => params[name] === undefined);
  return checksOf(
    STEPS,
    missing ? { reason: `${missing} is missing`, step: 'required' } : undefined,
  );
}

/**
 * Tried in this order, since the data of SCRAM, unlike other values, is base64 without quotes (RFC 7804 section 7).
 */
const GRAMMARS_OF_INFO = ['Info', 'SCRAM-SHA-256'];

/** Explains Authentication-Info (RFC 9110 section 11.6.3), which does not name the scheme. */
export function explainInfo(value: string): Explained {
  const read = GRAMMARS_OF_INFO.map((scheme) => parseChallenges(`${scheme} ${value}`)?.[0]).find(
    (one) => one?.params,
  );
  const step: Step = {
    name: 'form',
    check: 'The field is a list of parameters, and has no parameter twice.',
    section: 'RFC 9110 section 11.6.3',
  };
  return {
    what: 'Authentication-Info',
    standard: 'RFC 9110 section 11.6.3',
    parts: read ? partsOf(schemeOfInfo(read), read) : [],
    checks: checksOf([step], read ? undefined : { reason: 'it is malformed' }),
  };
}

/**
 * Returns the scheme of an Authentication-Info. Only Digest has `rspauth` or `nextnonce` (RFC 7616 section 3.5), and
 * only SCRAM has `data` (RFC 7804 section 7).
 */
const schemeOfInfo = ({ params = {} }: Challenge) =>
  'data' in params ? 'scram-sha-256' : 'digest';
