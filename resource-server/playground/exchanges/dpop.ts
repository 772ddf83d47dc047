import { createDpopKey, dpopProof } from '#shared/auth/schemes/dpop/client.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { randomId } from '#shared/base/random.ts';
import { OAUTH_NOTES } from '#shared/explain/notes/oauth.ts';
import type { Step } from '#shared/explain/checks.ts';
import { BEARER_STEPS, SCOPE_STEP, TOKEN_STEPS } from '#shared/explain/schemes/access-token.ts';
import { PROOF_STEPS } from '#shared/explain/schemes/dpop-proof.ts';
import { ofScheme } from '../checks/told.ts';
import type { Exchange } from '../exchange.ts';
import { fieldOf, type FieldLine } from '../http1-message.ts';
import { byCommandLine } from '../in-shell.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { jwtInClear } from './tokens.ts';

/** The checks of the token, and then of its proof. */
const STEPS: readonly Step[] = [
  {
    name: 'field',
    check: 'The client sends the token with the scheme DPoP, and one DPoP field.',
    section: 'RFC 9449 section 7.1',
    refusals: ['proof-none', 'proof-several'],
  },
  ...TOKEN_STEPS,
  ...PROOF_STEPS,
  SCOPE_STEP,
];

/** The exchange of DPoP (RFC 9449). */
export const dpopExchange: Exchange = {
  name: 'dpop',
  title: 'DPoP',
  longName: 'Demonstrating Proof of Possession',
  about:
    'The access token is bound to a key of the client, and each request has a proof that is signed with this key. Without the key a leaked token is useless, and a proof is valid for one request.',
  standard: 'RFC 9449',
  document: 'how-to/schemes/bearer-dpop.md',
  command: byCommandLine('login', 'request GET'),
  space: {
    // The space also accepts Bearer, to show that Bearer refuses a token that is bound to a key.
    schemes: ['DPoP', 'Bearer'],
    nonce: true,
    scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] },
  },
  mistakes: {
    replayed: 'The same proof a second time',
    key: 'A proof of another key',
    target: 'A proof for another address',
    stripped: 'No proof at all',
    bearer: 'The token as Bearer',
  },
  parameters: OAUTH_NOTES,
  decoded: (name, value) => (name === 'token68' || name === 'dpop' ? jwtInClear(value) : undefined),
  // The space also accepts Bearer, for tokens without a key.
  checks: ofScheme(({ scheme }) => (scheme === 'bearer' ? BEARER_STEPS : STEPS)),
  async perform({ send, remark, target, url, mistake, clock, random, issue }) {
    const request = { method: 'GET', target, fields: [] };
    await send('The client asks without a token, and learns the scope', request);
    remark('The server also names Bearer: it accepts tokens that are not bound to a key, too.');
    const key = createDpopKey();
    const accessToken = await issue({
      audience: url,
      scope: PLAYGROUND_SCOPE,
      cnf: { jkt: key.jkt },
    });
    const authorization: FieldLine = ['Authorization', `DPoP ${accessToken}`];
    const proofOf = (nonce?: string, by = key, at = url) =>
      dpopProof(by, {
        method: 'GET',
        url: at,
        accessToken,
        jti: randomId(random),
        iat: epochSeconds(clock),
        nonce,
      });
    remark(
      'Before the next step the client has made a pair of keys in its memory. It registers the public key nowhere, and the private key never leaves the client. Then the client has asked its authorization server for a token. This request is not shown: the playground issues this token itself.',
    );
    const asked = await send('The client has got a token for its key, and sends it with a proof', {
      ...request,
      fields: [authorization, ['DPoP', proofOf()]],
    });
    remark(
      'The token is bound to the key: the request for the token had a proof of this key, too. The authorization server has put the hash of the public key into the token (cnf.jkt, RFC 9449 sections 5 and 6.1). The server compares this hash with the key in the proof (jwk).',
    );
    const nonce = fieldOf(asked, 'DPoP-Nonce');
    const by = mistake === 'key' ? createDpopKey() : key;
    const at = mistake === 'target' ? new URL('/other/', url).href : url;
    const proof: FieldLine = ['DPoP', proofOf(nonce, by, at)];
    const last = { ...request, fields: [authorization, proof] };
    if (mistake === 'stripped') {
      await send('An attacker has the token and no key', { ...request, fields: [authorization] });
    } else if (mistake === 'bearer') {
      const shown: FieldLine = ['Authorization', `Bearer ${accessToken}`];
      await send('An attacker sends the token as Bearer', { ...request, fields: [shown] });
    } else {
      await send('The client repeats the request with the nonce of the server', last);
    }
    if (mistake === 'replayed') await send('An attacker sends the same request again', last);
  },
};
