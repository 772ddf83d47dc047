import { type Credentials, parseCredentials } from '#shared/http/auth/credentials.ts';
import { checksOf } from './checks.ts';
import type { Explained, Surroundings } from './explained.ts';
import { own } from './own.ts';
import { explainBasic } from './schemes/basic.ts';
import type { ExplainedCredentials } from './schemes/credentials-of.ts';
import { explainConcealed } from './schemes/concealed.ts';
import { explainDigest } from './schemes/digest.ts';
import { explainGnap } from './schemes/gnap.ts';
import { explainHoba } from './schemes/hoba.ts';
import { explainMutual } from './schemes/mutual.ts';
import { explainNegotiate } from './schemes/negotiate.ts';
import { partsOf } from './schemes/parameters.ts';
import { explainPrivateToken } from './schemes/private-token.ts';
import { explainScram } from './schemes/scram.ts';
import { explainToken } from './schemes/token-schemes.ts';
import { explainVapid } from './schemes/vapid.ts';

interface Row {
  readonly name: string;
  readonly standard: string;
  readonly explain: ExplainedCredentials;
}

/** The schemes that can be explained, by their name in lower case. */
const SCHEMES: Readonly<Record<string, Row>> = {
  basic: { name: 'Basic', standard: 'RFC 7617', explain: explainBasic },
  bearer: { name: 'Bearer', standard: 'RFC 6750', explain: explainToken },
  concealed: { name: 'Concealed', standard: 'RFC 9729', explain: explainConcealed },
  digest: { name: 'Digest', standard: 'RFC 7616', explain: explainDigest },
  dpop: { name: 'DPoP', standard: 'RFC 9449', explain: explainToken },
  gnap: { name: 'GNAP', standard: 'RFC 9635 section 7.2', explain: explainGnap },
  hoba: { name: 'HOBA', standard: 'RFC 7486', explain: explainHoba },
  mutual: { name: 'Mutual', standard: 'RFC 8120', explain: explainMutual },
  negotiate: { name: 'Negotiate', standard: 'RFC 4559', explain: explainNegotiate },
  privatetoken: { name: 'PrivateToken', standard: 'RFC 9577', explain: explainPrivateToken },
  'scram-sha-1': { name: 'SCRAM-SHA-1', standard: 'RFC 7804', explain: explainScram },
  'scram-sha-256': { name: 'SCRAM-SHA-256', standard: 'RFC 7804', explain: explainScram },
  vapid: { name: 'vapid', standard: 'RFC 8292', explain: explainVapid },
};

/** True if a scheme can be explained; `scheme` in any case. */
export const isScheme = (scheme: string): boolean => Object.hasOwn(SCHEMES, scheme.toLowerCase());

const GRAMMAR = 'RFC 9110 section 11.4';
const FORM = {
  name: 'form',
  check: 'The field has a scheme, and either one token or parameters, and no parameter twice.',
  section: GRAMMAR,
};

/** Explains the value of Authorization or Proxy-Authorization (RFC 9110 section 11.4). */
export function explainCredentials(value: string, surroundings: Surroundings): Explained {
  const credentials = parseCredentials(value);
  if (credentials === undefined) {
    const checks = checksOf([FORM], { reason: 'it is malformed, or has a parameter twice' });
    return { what: 'Credentials', standard: GRAMMAR, parts: [], checks };
  }
  return explainParsed(credentials, surroundings);
}

function explainParsed(credentials: Credentials, surroundings: Surroundings): Explained {
  const { scheme } = credentials;
  const row = own(SCHEMES, scheme);
  const parameters = partsOf(scheme, credentials);
  if (row === undefined) {
    const what = `Credentials of the unknown scheme ${scheme}`;
    return { what, standard: GRAMMAR, parts: parameters, checks: checksOf([FORM], undefined) };
  }
  const { parts, checks } = row.explain(credentials, surroundings);
  const { name, standard } = row;
  return { what: `${name} credentials`, standard, parts: [...parameters, ...parts], checks };
}
