import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { type Answer, type Fields, UNSTORED } from '#shared/http/answer.ts';
import { isScopeToken } from '#shared/jose/scope.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { ResourceIndicators } from '../../../resources/resource-indicators.ts';
import { BY_SECRET, spendOfSecret } from '../../../base/spend.ts';
import { recordedIssue } from '../recorded-issue.ts';
import type { TokenServer } from '../token-request.ts';
import { type PlainForm, type PlainRequest, plainRequest } from './plain-request.ts';

const GRANT_TYPE = 'client_credentials';

/** As the engine has them for a request without Origin. */
const FIELDS: Fields = {
  ...UNSTORED,
  Vary: 'Origin',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'DPoP-Nonce,WWW-Authenticate',
  'Content-Type': 'application/json; charset=utf-8',
};

/** Resolves to undefined, having done nothing but to count the request, when the engine has to answer. */
export type ClientCredentials = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<Answer | undefined>;

/**
 * The client credentials grant (RFC 6749 section 4.4) of plain requests, with the engine's models and our hooks of
 * it, beside its pipeline, which costs more than all of this. It can only succeed: whatever is rare, and
 * whatever is to be refused, is left to the engine, which looks at it anew.
 */
export function clientCredentials(
  server: TokenServer,
  provider: Provider,
  resources: ResourceIndicators,
): ClientCredentials {
  const spend = spendOfSecret(server);
  const record = recordedIssue(server);

  /** From top to bottom, in the order of the engine and of `tokenSteps`. */
  async function issue(
    request: IncomingMessage,
    response: ServerResponse,
    { clientId, secret, form }: PlainRequest,
  ): Promise<Answer | undefined> {
    const client = await provider.Client.find(clientId);
    if (client === undefined || !isPlain(client)) return undefined;
    if (!(await client.compareClientSecret(secret))) return undefined;
    if (!client.grantTypeAllowed(GRANT_TYPE)) return undefined;

    const ctx = contextOf(provider, request, response, form, client);
    const resource = form.resource ?? resources.defaultResource(ctx, client);
    if (resource === undefined) return undefined;
    const known = new provider.ResourceServer(
      resource,
      resources.resourceServer(ctx, resource, client),
    );
    const scope = [...ctx.oidc.requestParamScopes].filter((token) => known.scopes.has(token));

    await spend(ctx);
    const token = new provider.ClientCredentials({
      client,
      scope: scope.join(' ') || undefined,
      resourceServer: known,
    });
    ctx.oidc.entity('ClientCredentials', token);
    const access_token = await token.save();
    await record(ctx);
    provider.emit('grant.success', ctx);
    note(request, { client: clientId });
    const { expiration: expires_in, tokenType: token_type } = token;
    return {
      status: 200,
      fields: FIELDS,
      body: JSON.stringify({ access_token, expires_in, scope: token.scope, token_type }),
    };
  }

  return async (request, response) => {
    const asked = plainRequest(request);
    if (asked?.form.grant_type !== GRANT_TYPE) return undefined;
    const { scope } = asked.form;
    if (scope !== undefined && !scope.split(' ').every(isScopeToken)) return undefined;
    try {
      return await issue(request, response, asked);
    } catch {
      return undefined;
    }
  };
}

/** A client of which the engine demands no more than its secret. */
function isPlain(client: Client): boolean {
  return BY_SECRET.has(client.clientAuthMethod ?? '') && DEMANDS.every((name) => !client[name]);
}

const DEMANDS = [
  'clientSecretExpiresAt',
  'dpopBoundAccessTokens',
  'scope',
  'tlsClientCertificateBoundAccessTokens',
] as const;

/** The request as the engine's hooks and events see it. */
function contextOf(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  form: PlainForm,
  client: Client,
): KoaContextWithOIDC {
  const ctx = provider.createContext(request, response);
  ctx['_matchedRouteName'] = 'token';
  const oidc = Object.assign(new provider.OIDCContext(ctx), { body: form, params: { ...form } });
  oidc.entity('Client', client);
  return Object.assign(ctx, { oidc });
}
