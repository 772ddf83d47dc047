import { createPublicKey, type KeyObject } from 'node:crypto';
import { gnapFields } from '#shared/auth/schemes/gnap/client.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { GNAP_NOTES } from '#shared/explain/notes/gnap.ts';
import type { Step } from '#shared/explain/checks.ts';
import { GNAP_TOKEN_STEPS, SCOPE_STEP } from '#shared/explain/schemes/access-token.ts';
import { GNAP_PROOF_STEPS } from '#shared/explain/schemes/gnap.ts';
import { ofScheme } from '../checks/told.ts';
import type { Exchange } from '../exchange.ts';
import type { FieldLine } from '../http1-message.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { jwtInClear } from './tokens.ts';

const KID = 'playground';
const LONG_AGO = 600;

const jwkOf = (key: KeyObject) => ({
  ...createPublicKey(key).export({ format: 'jwk' }),
  kid: KID,
  alg: 'Ed25519',
});

/** The checks of the token, and then of its signature (RFC 9635 section 7.2). */
const STEPS: readonly Step[] = [
  {
    name: 'scheme',
    check: 'The client sends the token with the scheme GNAP.',
    section: 'RFC 9635 section 7.2',
    refusals: ['other-scheme'],
  },
  ...GNAP_TOKEN_STEPS,
  ...GNAP_PROOF_STEPS,
  SCOPE_STEP,
];

/** The exchange of GNAP (RFC 9635, RFC 9421). */
export const gnapExchange: Exchange = {
  name: 'gnap',
  title: 'GNAP',
  longName: 'Grant Negotiation and Authorization Protocol',
  about:
    'The access token is bound to a key, and the client signs the request itself: the method, the URL and the field with the token. Unlike a proof of DPoP, the signature may also cover the content and any other field.',
  standard: 'RFC 9635, RFC 9421',
  document: 'how-to/schemes/gnap.md',
  space: { schemes: ['GNAP'], scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] } },
  mistakes: {
    replayed: 'The same signature a second time',
    key: 'A signature of another key',
    target: 'A signature for another address',
    expired: 'A signature of ten minutes ago',
    stripped: 'No signature at all',
    bearer: 'The token as Bearer',
  },
  parameters: GNAP_NOTES,
  checks: ofScheme(() => STEPS),
  decoded: (name, value) => (name === 'token68' ? jwtInClear(value) : undefined),
  async perform({ send, remark, target, url, mistake, clock, issue, keys }) {
    const request = { method: 'POST', target, fields: [] };
    await send('The client asks without a token, and learns where to get one', request);
    remark(
      'The client asks for a token at as_uri, and signs that request with its key, too. The authorization server puts the public key into the token (cnf.jwk). This request is not shown: the playground issues this token itself.',
    );
    const key = keys.ed25519();
    const token = await issue({ audience: url, scope: PLAYGROUND_SCOPE, cnf: { jwk: jwkOf(key) } });
    const fields = gnapFields(
      token,
      { method: 'POST', url: mistake === 'target' ? new URL('/other/', url).href : url },
      { alg: 'Ed25519', kid: KID, key: mistake === 'key' ? keys.unknownEd25519() : key },
      epochSeconds(clock) - (mistake === 'expired' ? LONG_AGO : 0),
    );
    const lines = Object.entries(fields);
    const shown: readonly FieldLine[] =
      mistake === 'bearer'
        ? [['Authorization', `Bearer ${token}`]]
        : lines.filter(([name]) => mistake !== 'stripped' || name === 'Authorization');
    const last = { ...request, fields: shown };
    await send('The client has got a token for its key, and signs the request with it', last);
    if (mistake === 'replayed') await send('An attacker sends the same request again', last);
  },
};
