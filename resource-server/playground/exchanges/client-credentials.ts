import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { PLAYGROUND_CLIENT } from '#shared/config/playground-client.ts';
import { FLOW_NOTES } from '#shared/explain/notes/flow.ts';
import { OAUTH_NOTES } from '#shared/explain/notes/oauth.ts';
import { flowChecks } from '../checks/flow.ts';
import { tokenEndpointChecks } from '../checks/token-endpoint.ts';
import type { Exchange, Performing } from '../exchange.ts';
import type { PlannedRequest } from '../http1-message.ts';
import { ASSERTION_TYPE, clientAssertion } from './client-assertion.ts';
import { jwtInClear } from './tokens.ts';

/** A form to the authorization server, with an assertion as the credentials of the client. */
const formTo = (
  target: string,
  members: Readonly<Record<string, string>>,
  assertion: string,
): PlannedRequest => ({
  to: 'authorization',
  method: 'POST',
  target,
  fields: [['Content-Type', 'application/x-www-form-urlencoded']],
  content: String(
    new URLSearchParams({
      ...members,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: assertion,
    }),
  ),
});

/** The assertion that the client shows, by its mistake. */
function assertionOf(performing: Performing): string {
  const { mistake, keys, issuer } = performing;
  if (mistake === 'key') return clientAssertion(performing, { key: keys.unknownEd25519() });
  if (mistake === 'audience') {
    return clientAssertion(performing, { audience: `https://other.example/of/${issuer}` });
  }
  return clientAssertion(performing, {});
}

/** Returns the access token of an answer (RFC 6749 section 5.1). Undefined: it is an error. */
function tokenIn(content: string): string | undefined {
  const { access_token: token } = JSON.parse(content) as { readonly access_token?: string };
  return token;
}

/** RFC 6749 section 4.4, RFC 7523, RFC 7009. */
export const clientCredentialsExchange: Exchange = {
  name: 'client-credentials',
  title: 'Client credentials',
  about:
    'A machine gets an access token from the authorization server in its own name, uses it, and revokes it; then the token is refused. No person takes part, so the token says nothing of one.',
  standard: 'RFC 6749 section 4.4, RFC 7523, RFC 7009',
  document: 'how-to/schemes/bearer-dpop.md',
  ofPair: true,
  space: {
    schemes: ['Bearer'],
    scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] },
    allow: { clients: [PLAYGROUND_CLIENT] },
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
  decoded: (name, value) => (HAS_JWT.has(name) ? jwtInClear(value) : undefined),
  checks: flowChecks,
  checksBy: { authorization: tokenEndpointChecks },
  async perform(performing) {
    const { send, remark, target, url, mistake } = performing;
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
      await send('Somebody repeats what was heard', asking);
      return;
    }
    const token = tokenIn(answer.content);
    if (token === undefined) return;
    const shown = { ...request, fields: [['Authorization', `Bearer ${token}`]] as const };
    await send('The client shows the token to the resource', shown);
    const members = { token, token_type_hint: 'access_token' };
    const revoking = formTo('/token/revocation', members, clientAssertion(performing, {}));
    await send('The client needs the token no more, and revokes it', revoking);
    await send('Somebody shows the token again, and is refused', shown);
    remark('The token has not expired. It is refused because it was revoked.');
  },
};

const HAS_JWT: ReadonlySet<string> = new Set([
  'token68',
  'token',
  'access_token',
  'client_assertion',
]);
