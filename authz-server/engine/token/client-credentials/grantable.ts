import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { SpaceConfig } from '#shared/config/schema.ts';
import type { ResourceIndicators } from '../../../resources/resource-indicators.ts';
import type { PlainForm } from './plain-request.ts';

/** The most combinations of scope and resource that are cached for each client, and the most characters of one. */
const CAPACITY = 16;
const LONGEST = 512;

/** The token that a client gets for a scope and a resource. */
export interface Grantable {
  readonly scope: string | undefined;
  readonly audience: string;
  readonly alg: SpaceConfig['alg'];
}

/** A request in the form that the engine's hooks read. */
export interface Asking {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly form: PlainForm;
}

export type GrantOf = (client: Client, asking: Asking) => Grantable | undefined;

/**
 * Returns the token that a client gets for its parameters. The result depends only on the client's metadata and the
 * configuration, so it is cached as long as the client is unchanged. Throws the errors of `resources`.
 */
export function grantable(provider: Provider, resources: ResourceIndicators): GrantOf {
  const known = new WeakMap<Client, RecentMap<Grantable>>();

  function look(client: Client, asking: Asking): Grantable | undefined {
    const ctx = contextOf(provider, client, asking);
    const resource = asking.form.resource ?? resources.defaultResource(ctx, client);
    if (resource === undefined) return undefined;
    const found = resources.resourceServer(ctx, resource, client);
    const { scopes } = new provider.ResourceServer(resource, found);
    const scope = [...ctx.oidc.requestParamScopes].filter((token) => scopes.has(token));
    return {
      scope: scope.join(' ') || undefined,
      audience: found.audience,
      alg: found.jwt.sign.alg,
    };
  }

  return (client, asking) => {
    const ofClient = known.get(client) ?? new RecentMap(CAPACITY);
    known.set(client, ofClient);
    const { scope = '', resource = '' } = asking.form; // a scope has no line feed, and no parameter is empty
    const key = `${scope}\n${resource}`;
    const before = ofClient.get(key);
    if (before !== undefined) return before;
    const now = look(client, asking);
    if (now !== undefined && key.length <= LONGEST) ofClient.set(key, now);
    return now;
  };
}

/** Returns the request in the form that the engine's hooks read. */
function contextOf(
  provider: Provider,
  client: Client,
  { request, response, form }: Asking,
): KoaContextWithOIDC {
  const ctx = provider.createContext(request, response);
  ctx['_matchedRouteName'] = 'token';
  const oidc = Object.assign(new provider.OIDCContext(ctx), { body: form, params: { ...form } });
  oidc.entity('Client', client);
  return Object.assign(ctx, { oidc });
}
