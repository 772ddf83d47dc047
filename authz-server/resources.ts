import { errors } from 'oidc-provider';
import type { Client, KoaContextWithOIDC, ResourceServer } from 'oidc-provider';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { parseScope } from '#shared/oauth/scope.ts';
import type { KeySet } from './key-ring.ts';

/** RFC 8707: the protection spaces of the configuration are the resources that tokens are issued for. */
export interface Resources {
  /** What the client gets when it names none: the first of its resources that knows the scopes. */
  defaultResource(ctx: KoaContextWithOIDC, client: Client): string | undefined;
  /**
   * Scopes, audience and signature of a resource, for this client. Without `scope` in the request of a
   * machine client its default scopes are asked for. Throws `invalid_target` and `invalid_scope`.
   */
  resourceServer(ctx: KoaContextWithOIDC, resource: string, client: Client): ResourceServer;
}

export function resources(config: Config, keys: KeySet): Resources {
  const find = (resource: string) => config.spaces.find(({ url }) => sameResource(url, resource));
  const open = (client: Client) =>
    strings(client['resources'])?.flatMap((resource) => find(resource) ?? []) ?? config.spaces;

  return {
    defaultResource(ctx, client) {
      const asked = requestedScope(ctx, client);
      const knows = (space: SpaceConfig) => asked.intersection(spaceScopes(space)).size;
      const candidates = open(client);
      const best = candidates.find((space) => knows(space) === asked.size);
      return (best ?? candidates.find((space) => knows(space) > 0) ?? candidates[0])?.url;
    },

    resourceServer(ctx, resource, client) {
      const space = find(resource);
      if (space === undefined || !open(client).includes(space)) {
        throw invalidTarget(`the resource is none of: ${list(open(client).map(({ url }) => url))}`);
      }
      const allowed = parseScope(text(client['allowed_scope'])).intersection(spaceScopes(space));
      const asked = requestedScope(ctx, client);
      if (ctx.oidc.params?.['grant_type'] === 'client_credentials') {
        const granted = isDefaulted(ctx) ? asked.intersection(allowed) : asked;
        if (granted.size === 0 || !granted.isSubsetOf(allowed)) {
          const refused = [...asked.difference(allowed)].join(' ');
          throw new errors.InvalidScope(
            `for ${space.url} this client may ask for: ${list([...allowed])}`,
            refused,
          );
        }
        ctx.oidc.params['scope'] = [...granted].join(' ');
      }
      return {
        scope: [...allowed].join(' '),
        audience: space.url,
        accessTokenFormat: 'jwt',
        accessTokenTTL: config.tokens.lifetime,
        jwt: { sign: { alg: space.alg, kid: keys.signingKid(space.alg) } },
      };
    },
  };
}

/** All scopes that some method of the space needs. */
export function spaceScopes(space: SpaceConfig): ReadonlySet<string> {
  return new Set(Object.values(space.scopes).flat());
}

/** A bare origin is one resource with and without a slash: URL parsers add it. */
function sameResource(url: string, resource: string): boolean {
  return url === resource || (url === `${resource}/` && URL.parse(url)?.pathname === '/');
}

const isDefaulted = (ctx: KoaContextWithOIDC) => ctx.oidc.params?.['scope'] === undefined;

function requestedScope(ctx: KoaContextWithOIDC, client: Client): ReadonlySet<string> {
  const scope = isDefaulted(ctx) ? client['default_scope'] : ctx.oidc.params?.['scope'];
  return parseScope(text(scope));
}

function invalidTarget(description: string) {
  const error = new errors.InvalidTarget();
  error.error_description = description;
  return error;
}

const list = (values: readonly string[]) => values.join(', ') || 'nothing';
const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const strings = (value: unknown) =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
