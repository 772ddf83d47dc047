import { readProof } from '#shared/auth/schemes/concealed/credentials.ts';
import { parseResult } from '#shared/auth/schemes/hoba/result.ts';
import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';
import { partsOfJwt, readJwt } from './jwt.ts';

const ONLY = 'Only the server knows.';

const HOBA_STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 'The result is kid.challenge.nonce.sig in base64url.',
    section: 'RFC 7486 section 2',
  },
  {
    name: 'challenge',
    check: 'The server has made the challenge, lately.',
    section: 'RFC 7486 section 2.1',
  },
  { name: 'key', check: 'Somebody has registered the key kid.', section: 'RFC 7486 section 6.1' },
  {
    name: 'signature',
    check: 'The key has signed nonce, algorithm, origin, realm, kid and challenge.',
    section: 'RFC 7486 section 2',
  },
];

/** RFC 7486. */
export const explainHoba: ExplainedCredentials = ({ token68, params = {} }) => {
  const result = parseResult(token68 ?? params['result'] ?? '');
  const open = { challenge: ONLY, key: ONLY, signature: 'Only the server has the public key.' };
  return {
    parts: result
      ? [
          { name: 'kid', value: result.kid },
          { name: 'challenge', value: result.challenge },
          { name: 'nonce', value: result.nonce },
          { name: 'sig', value: `${result.signature.length} octets` },
        ]
      : [],
    checks: checksOf(HOBA_STEPS, result ? undefined : 'not a HOBA result', open),
  };
};

const CONCEALED_STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 'k, a, s, v and p are there, without quotes, and well-formed.',
    section: 'RFC 9729 section 4',
  },
  { name: 'key', check: 'Somebody has registered the key k.', section: 'RFC 9729 section 6.3' },
  {
    name: 'verification',
    check: 'v is what this TLS connection exports for the key.',
    section: 'RFC 9729 section 6.3',
  },
  {
    name: 'signature',
    check: 'The key has signed what this TLS connection exports.',
    section: 'RFC 9729 section 6.3',
  },
];

/** RFC 9729. */
export const explainConcealed: ExplainedCredentials = (credentials) => {
  const proof = readProof(credentials);
  const tls = 'Only the two ends of the connection know it.';
  return {
    parts: [],
    checks: checksOf(CONCEALED_STEPS, proof ? undefined : 'a parameter is missing or malformed', {
      key: ONLY,
      verification: tls,
      signature: tls,
    }),
  };
};

const VAPID_STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 't is a JWT, and k the public key of an application server.',
    section: 'RFC 8292 section 3',
  },
  { name: 'signature', check: 'The key k has signed t.', section: 'RFC 8292 section 4' },
  {
    name: 'claims',
    check: 'aud is the origin of the push service, and exp at most 24 hours ahead.',
    section: 'RFC 8292 section 2',
  },
  {
    name: 'key',
    check: 'k is the key to which the subscription was restricted.',
    section: 'RFC 8292 section 4.2',
  },
];

/** RFC 8292. */
export const explainVapid: ExplainedCredentials = ({ params = {} }, surroundings) => {
  const { t, k } = params;
  const refusal = t === undefined || k === undefined ? 't or k is missing' : undefined;
  return {
    parts: t === undefined ? [] : partsOfJwt(readJwt(t), surroundings),
    checks: checksOf(VAPID_STEPS, refusal, {
      signature: 'The push service verifies it with k.',
      claims: 'The push service compares them with itself and the time.',
      key: ONLY,
    }),
  };
};
