import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { FLOW_NOTES } from '#shared/explain/notes/flow.ts';
import { OAUTH_NOTES } from '#shared/explain/notes/oauth.ts';
import { BEARER_STEPS } from '#shared/explain/schemes/access-token.ts';
import { ofScheme } from '../checks/told.ts';
import { tokenEndpointChecks } from '../checks/token-endpoint.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { CLIENT } from '../browser.ts';
import { decodedJwt, formTo, memberOf, useAndRevoke } from './at-authorization-server.ts';
import { clientAssertion } from './client-assertion.ts';
import { shellWord } from '#shared/base/shell-word.ts';
import { onLines } from '../in-shell.ts';

/** Makes the assertion that the client sends, with its mistake. */
function assertionOf(performing: Performing): string {
  const { mistake, keys, issuer } = performing;
  if (mistake === 'key') return clientAssertion(performing, { key: keys.unknownEd25519() });
  if (mistake === 'audience') {
    return clientAssertion(performing, { audience: `https://other.example/of/${issuer}` });
  }
  return clientAssertion(performing, {});
}

/** The exchange of client credentials (RFC 6749 section 4.4, RFC 7523, RFC 7009). */
export const clientCredentialsExchange: Exchange = {
  name: 'client-credentials',
  title: 'Client credentials',
  about:
    'A machine gets an access token in its own name, uses it, and revokes it. After that the token is refused. No person takes part, so the token names no person.',
  standard: 'RFC 6749 section 4.4, RFC 7523, RFC 7009',
  document: 'how-to/schemes/bearer-dpop.md',
  command: (_url, { issuer, documents, client: { before, login } }) =>
    documents &&
    onLines(
      `${before}curl -s -u ${login}`,
      '-d grant_type=client_credentials',
      `-d ${shellWord(`resource=${documents}`)}`,
      shellWord(`${issuer}/token`),
    ),
  ofPair: true,
  space: {
    schemes: ['Bearer'],
    scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] },
    allow: { clients: [CLIENT] },
  },
  mistakes: {
    key: 'An assertion that another key has signed',
    audience: 'An assertion for another authorization server',
    replayed: 'The same assertion a second time',
    resource: 'A token for another resource',
    scope: 'A scope that the client may not have',
  },
  parameters: OAUTH_NOTES,
  contents: FLOW_NOTES,
  decoded: decodedJwt,
  checks: ofScheme(() => BEARER_STEPS),
  checksBy: { authorization: tokenEndpointChecks },
  async perform(performing) {
    const { send, target, url, mistake } = performing;
    const request = { method: 'GET', target, fields: [] };
    await send('The client asks the resource without a token', request);
    const asking = formTo(
      '/token',
      {
        grant_type: 'client_credentials',
        scope: mistake === 'scope' ? 'admin' : PLAYGROUND_SCOPE,
        resource: mistake === 'resource' ? new URL('/other/', url).href : url,
      },
      assertionOf(performing),
    );
    const answer = await send('The client asks the authorization server for a token', asking);
    if (mistake === 'replayed') {
      await send('An attacker sends the same request again', asking);
      return;
    }
    const token = memberOf(answer.content, 'access_token');
    if (token !== undefined) await useAndRevoke(performing, token);
  },
};
