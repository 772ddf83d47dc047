import { parseCompactJws } from '#shared/jose/compact-jws.ts';
import { checksOf, type Step } from '../checks.ts';
import type { Explained, Surroundings } from '../explained.ts';
import { own } from '../own.ts';
import { explainAccessToken } from './access-token.ts';
import { explainDpopProof } from './dpop-proof.ts';
import { partsOfJwt, readJwt, textOf } from './jwt.ts';

const STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 'The token is one JWT, signed with an algorithm that the server accepts.',
    section: 'RFC 7519 section 7.2',
  },
  { name: 'signature', check: 'The issuer has signed the token.', section: 'RFC 7515 section 5.2' },
  {
    name: 'claims',
    check: 'Issuer, audience and times are right.',
    section: 'RFC 7519 section 4.1',
  },
];

/** The explanation of a JWT by its type (RFC 7515 section 4.1.9), in lower case. */
const BY_TYPE: Readonly<Record<string, typeof explainDpopProof>> = {
  'dpop+jwt': explainDpopProof,
  'at+jwt': explainAccessToken,
  'gnap-at+jwt': explainAccessToken,
};

/** Explains a JWT (RFC 7519) by its type. */
export function explainJwt(text: string, surroundings: Surroundings): Explained {
  const read = readJwt(text);
  const type = textOf(read.header?.['typ'])
    .toLowerCase()
    .replace(/^application\//, '');
  const known = own(BY_TYPE, type);
  if (known) return known(text, surroundings);
  const jws = parseCompactJws(text);
  return {
    what: 'JWT of another type',
    standard: 'RFC 7519',
    parts: partsOfJwt(read, surroundings),
    checks: checksOf(STEPS, jws.ok ? undefined : jws, {
      signature: 'Only the key of the issuer shows this.',
      claims:
        'The server compares issuer and audience with its settings, and the times with its clock.',
    }),
  };
}
