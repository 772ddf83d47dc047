import { OAUTH_NOTES } from '#shared/explain/notes/oauth.ts';
import { BEARER_STEPS } from '#shared/explain/schemes/access-token.ts';
import { ofScheme } from '../checks/told.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { jwtInClear } from './tokens.ts';
import { atDocuments } from '../in-shell.ts';

/** Seconds, more than the lifetime of a token and the difference of clocks. */
const LONG_AGO = 600;

/** Returns the token that the client sends. */
async function tokenOf({ issue, url, mistake }: Performing): Promise<string> {
  const right = { audience: url, scope: PLAYGROUND_SCOPE };
  if (mistake === 'expired') return issue({ ...right, age: LONG_AGO });
  if (mistake === 'audience') return issue({ ...right, audience: new URL('/other/', url).href });
  if (mistake === 'scope') return issue({ ...right, scope: 'watch' });
  const token = await issue(right);
  const [header = '', payload = '', signature = ''] = token.split('.');
  const encoded = (text: string) => Buffer.from(text).toString('base64url');
  if (mistake === 'changed') {
    const claims = Buffer.from(payload, 'base64url').toString();
    const changed = encoded(claims.replace('"scope":"play"', '"scope":"play admin"'));
    return [header, changed, signature].join('.');
  }
  if (mistake === 'unsigned') {
    const parts = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), alg: 'none' };
    return [encoded(JSON.stringify(parts)), payload, ''].join('.');
  }
  return token;
}

/** The exchange of Bearer (RFC 6750) with tokens of RFC 9068. */
export const bearerExchange: Exchange = {
  name: 'bearer',
  title: 'Bearer',
  about:
    'The client shows an access token that an authorization server issued. Anybody who gets the token can use it until it expires.',
  standard: 'RFC 6750, RFC 9068',
  document: 'how-to/schemes/bearer-dpop.md',
  command: atDocuments(['']),
  space: { schemes: ['Bearer'], scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] } },
  mistakes: {
    expired: 'A token that has expired',
    audience: 'A token for another resource',
    scope: 'A token without the scope',
    changed: 'A token that was changed',
    unsigned: 'A token that says it needs no signature',
  },
  parameters: OAUTH_NOTES,
  decoded: (name, value) => (name === 'token68' ? jwtInClear(value) : undefined),
  checks: ofScheme(() => BEARER_STEPS),
  async perform(performing) {
    const { send, remark, target } = performing;
    const request = { method: 'GET', target, fields: [] };
    await send('The client asks without a token, and learns the scope', request);
    remark(
      'The client asks its authorization server for a token with this scope. This request is not shown: the playground issues this token itself. The page “Client credentials” shows such a request.',
    );
    const token = await tokenOf(performing);
    await send('The client has got a token, and sends it', {
      ...request,
      fields: [['Authorization', `Bearer ${token}`]],
    });
  },
};
