import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client, Provider } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { type Answer, type Fields, UNSTORED } from '#shared/http/answer.ts';
import { isScopeToken } from '#shared/jose/scope.ts';
import type { KeySet } from '#shared/keys/signing-key-ring.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { ResourceIndicators } from '../../../resources/resource-indicators.ts';
import { signedToken } from '../../../base/signed-token.ts';
import { BY_SECRET, spendOnce } from '../../../base/spend.ts';
import { actor } from '../recorded-issue.ts';
import { revocableClaims } from '../token-claims.ts';
import { ruledClaims } from '#shared/people/told-claims.ts';
import type { TokenServer } from '../token-request.ts';
import { grantable } from './grantable.ts';
import { type PlainRequest, plainRequest } from './plain-request.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { clientOf } from '../../clients/clients.ts';
import { rulesOf } from '../../clients/client-metadata.ts';

const GRANT_TYPE = 'client_credentials';

/** The fields that the engine sends to a request without Origin. */
const FIELDS: Fields = {
  ...UNSTORED,
  Vary: 'Origin',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'DPoP-Nonce,WWW-Authenticate',
  'Content-Type': 'application/json; charset=utf-8',
};

/** The number of random octets in a `jti`, as many as the engine uses. */
const JTI = 32;

/** Resolves to undefined if the engine must answer; the request has then only been counted. */
export type ClientCredentials = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<Answer | undefined>;

/**
 * Answers plain requests for the client credentials grant (RFC 6749 section 4.4). It uses the engine's clients and our
 * hooks, but not the engine's pipeline and models of tokens, which cost more than all of this. It answers only
 * successful requests: rare requests, and requests that must be refused, are left to the engine, which checks them
 * again.
 */
export function clientCredentials(
  server: TokenServer,
  provider: Provider,
  resources: ResourceIndicators,
  keys: KeySet,
): ClientCredentials {
  const { config, clock, random, recorder } = server;
  const { lifetime } = config.tokens;
  const engineClient = engineClients(server, provider);
  const grantOf = grantable(provider, resources);

  /** The checks run in the order of the engine and of `tokenSteps`. */
  async function issue(
    request: IncomingMessage,
    response: ServerResponse,
    { clientId, secret, form }: PlainRequest,
  ): Promise<Answer | undefined> {
    // The order matters: a client that authenticates with a secret that was replaced before the client ended gets no
    // token with a later generation.
    const claims = await revocableClaims(server, clientId);
    const client = await engineClient(clientId);
    if (client === undefined || !isPlain(client)) return undefined;
    if (!(await client.compareClientSecret(secret))) return undefined;
    if (!client.grantTypeAllowed(GRANT_TYPE)) return undefined;
    const granted = grantOf(client, { request, response, form });
    if (granted === undefined) return undefined;
    const { scope, audience, alg } = granted;

    await spendOnce(server, request, clientId);
    const iat = epochSeconds(clock);
    // The claims of RFC 9068 section 2.2, in the order of the engine.
    const { jwt } = await signedToken(keys, alg, 'at+jwt', {
      ...ruledClaims(rulesOf(client), undefined),
      ...claims,
      jti: random(JTI).toString('base64url'),
      sub: clientId,
      iat,
      exp: iat + lifetime,
      scope,
      client_id: clientId,
      iss: config.issuer,
      aud: audience,
    });
    const from = request.headers['x-forwarded-for']; // app.ts has set this field
    await recorder.ownToken(clientId, GRANT_TYPE, actor(clientId, from?.toString()));
    const token_type = 'Bearer';
    note(request, { grant: GRANT_TYPE, format: token_type, client: clientId });
    return {
      status: 200,
      fields: FIELDS,
      body: JSON.stringify({ access_token: jwt, expires_in: lifetime, scope, token_type }),
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

/** Whether the engine requires only the secret of this client. */
function isPlain(client: Client): boolean {
  return BY_SECRET.has(client.clientAuthMethod ?? '') && DEMANDS.every((name) => !client[name]);
}

const DEMANDS = [
  'clientSecretExpiresAt',
  'dpopBoundAccessTokens',
  'scope',
  'tlsClientCertificateBoundAccessTokens',
] as const;

/** The most clients that are cached by the text of their record, as each read from PostgreSQL gives another object. */
const CAPACITY = 1000;

/**
 * Finds clients of the engine. A client is made only once from the same record, since the engine compares all of its
 * metadata each time.
 */
export function engineClients(
  { stores }: Pick<TokenServer, 'stores'>,
  provider: Provider,
): (clientId: string) => Promise<Client | undefined> {
  const made = new WeakMap<ClientRecord, Client>();
  const byText = new RecentMap<Client>(CAPACITY);

  /** A client with a metadata document depends on more than its record, so it is not cached. */
  async function make(record: ClientRecord): Promise<Client | undefined> {
    if (record.document !== undefined) return clientOf(provider, record);
    const text = JSON.stringify(record);
    const client = byText.get(text) ?? (await clientOf(provider, record));
    if (client !== undefined) byText.set(text, client);
    return client;
  }

  return async (clientId) => {
    const record = await stores.clients.get(clientId);
    if (record === undefined) return undefined;
    const client = made.get(record) ?? (await make(record));
    if (client !== undefined) made.set(record, client);
    return client;
  };
}
