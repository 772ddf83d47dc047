import { type Client, errors, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider';
import type { Config } from '#shared/config/schema.ts';
import { nearest } from '#shared/base/nearest.ts';
import { isProduction } from '#shared/config/production.ts';
import { isScopeToken, parseScope } from '#shared/jose/scope.ts';
import { type TokenSpace, tokenSpaces } from '#shared/config/token-spaces.ts';
import { isDocumentUrl } from '#shared/client-documents/document-url.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { KeySet } from '#shared/keys/signing-key-ring.ts';
import { isFapi, isFapiAlg } from '../base/fapi.ts';
import { shownUri } from '../base/reasons.ts';

/** The scopes of OpenID Connect, about the person alone (Core 1.0 sections 5.4 and 11). */
export const OPENID_SCOPES: ReadonlySet<string> = new Set([
  'openid',
  'offline_access',
  ...Object.keys(CLAIMS_OF_SCOPES),
]);

/** A space in the form of the engine's resources. */
type SpaceResource = ResourceServer & {
  readonly audience: string;
  readonly jwt: { readonly sign: { readonly alg: TokenSpace['alg'] } };
};

/**
 * RFC 8707: the protection spaces of the configuration are the resources for which tokens are issued. A request without
 * `scope` asks for the default scopes of the client (RFC 6749 section 3.3).
 */
export interface ResourceIndicators {
  /** Returns a resource in the spelling of the configuration; an unknown resource stays unchanged. */
  named(resource: string): string;
  /**
   * Returns the resource for a client that names none: `audience`, which clients of Auth0 and Hydra send instead, the
   * first of its resources that knows the scopes, or the first of the granted resources (`oneOf`).
   */
  defaultResource(
    ctx: KoaContextWithOIDC,
    client: Client,
    oneOf?: readonly string[],
  ): string | undefined;
  /**
   * Returns scopes, audience and signature of a resource for this client. Throws `invalid_target`, and `invalid_scope`
   * for a machine.
   */
  resourceServer(ctx: KoaContextWithOIDC, resource: string, client: Client): SpaceResource;
  /**
   * Checks an authorization request whose resources are known. Throws `invalid_scope` for a scope of OpenID Connect
   * that the client may not ask for, and if none of the requested scopes could ever be granted. `offline_access` is
   * ignored instead (Core 1.0 section 11), since clients add it when metadata lists it.
   */
  checkScope(ctx: KoaContextWithOIDC, client: Client): void;
}

export function resourceIndicators(config: Config, keys: KeySet): ResourceIndicators {
  const spaces = tokenSpaces(config);
  const urls = new Map(spaces.map(({ url }) => [comparable(url), url]));
  const named = (resource: string) => urls.get(comparable(resource)) ?? resource;
  const find = (resource: string) => {
    const name = named(resource);
    return spaces.find(({ url }) => url === name);
  };
  const open = (client: Client) => {
    const all = strings(client['resources'])?.flatMap((resource) => find(resource) ?? []) ?? spaces;
    return isFapi(client) ? all.filter(({ alg }) => isFapiAlg(alg)) : all;
  };
  /**
   * Returns the resources that a client is told about: resources of which it may have a scope, and that are not hidden.
   */
  const usable = (client: Client) => {
    const allowed = parseScope(text(client['allowed_scope']));
    return open(client)
      .filter((space) => {
        const some = scopesFor(space, client.clientId).intersection(allowed).size > 0;
        return !hides(space) && (some || needsNoScope(space, client));
      })
      .map(({ url }) => url);
  };
  /** True if the client may ask for all these scopes, even if no single resource has them all. */
  const isAllowed = (client: Client, asked: ReadonlySet<string>) => {
    const scopes = open(client).reduce(
      (some, space) => some.union(scopesFor(space, client.clientId)),
      new Set<string>(),
    );
    const allowed = parseScope(text(client['allowed_scope'])).intersection(scopes);
    return asked.size > 0 && asked.isSubsetOf(allowed);
  };

  return {
    named,

    defaultResource(ctx, client, oneOf) {
      const audience = audienceOf(ctx);
      if (oneOf) {
        demandOne(ctx);
        // The engine refuses a resource that was not granted.
        return audience === undefined ? oneOf[0] : named(audience);
      }
      if (audience !== undefined) return named(audience);
      const asked = requestedScope(ctx, client).difference(OPENID_SCOPES);
      const knows = (space: TokenSpace) =>
        asked.intersection(scopesFor(space, client.clientId)).size;
      const candidates = open(client);
      if (candidates.length === 0 && isMachine(ctx)) throw invalidTarget(NONE);
      const best = candidates.find((space) => knows(space) === asked.size);
      return (best ?? candidates.find((space) => knows(space) > 0) ?? candidates[0])?.url;
    },

    resourceServer(ctx, resource, client) {
      const space = find(resource);
      if (space === undefined || !open(client).includes(space)) {
        const told = !isProduction(config) || isAuthenticated(ctx, client);
        const error = invalidTarget(told ? unlike(resource, usable(client)) : UNKNOWN);
        error.error_detail = `${UNKNOWN}: ${shownUri(resource)}`;
        throw error;
      }
      const allowed = parseScope(text(client['allowed_scope'])).intersection(
        scopesFor(space, client.clientId),
      );
      const { params, route } = ctx.oidc;
      // A grant of one resource has no default to choose, so the engine would ignore another audience.
      const audience = route === 'token' ? audienceOf(ctx) : undefined;
      if (audience !== undefined && find(named(audience)) !== space) {
        throw invalidTarget('audience is not the resource of this grant: send another, or none');
      }
      const asked = requestedScope(ctx, client);
      if (params && isMachine(ctx)) {
        demandOne(ctx);
        const granted = isDefaulted(ctx) ? asked.intersection(allowed) : asked;
        const missing = granted.size === 0 && !(isDefaulted(ctx) && needsNoScope(space, client));
        if (missing || !granted.isSubsetOf(allowed)) {
          if (ctx.oidc.body?.['resource'] === undefined && isAllowed(client, asked)) {
            throw invalidTarget('the scopes are of several resources, and a token is for one');
          }
          const whole = parseScope(text(client['allowed_scope']));
          throw invalidScope(asked.difference(allowed), allowed.size > 0 ? allowed : whole, {
            at: `for ${space.url} `,
            elsewhere: allowed.size > 0 ? '' : 'for other resources ',
          });
        }
        params['scope'] = [...granted].join(' ');
      }
      return {
        scope: [...allowed].join(' '),
        audience: space.url,
        accessTokenFormat: 'jwt',
        accessTokenTTL: config.tokens.lifetime,
        jwt: { sign: { alg: space.alg, kid: keys.signingKid(space.alg) } },
      };
    },

    checkScope({ oidc, req }, client) {
      const found = Object.values(oidc.resourceServers ?? {});
      if (found.length === 0) throw invalidTarget(NONE);
      const allowed = parseScope(text(client['allowed_scope']));
      const grantable = found.reduce(
        (known, { scopes }) => known.union(scopes),
        allowed.intersection(OPENID_SCOPES),
      );
      // The engine uses this value for a resource of which the client may have no scope.
      grantable.delete('');
      const { params = {}, requestParamScopes: asked } = oidc;
      if (!allowed.has('offline_access') && asked.delete('offline_access')) {
        params['scope'] = [...asked].join(' ');
      }
      const ignored = asked.difference(grantable);
      if (ignored.size > 0) {
        const names = [...ignored].join(' ').slice(0, NAMED);
        note(req, { reason: `scopes that this client may not have are ignored: ${names}` });
      }
      const refused = asked.intersection(OPENID_SCOPES).difference(allowed);
      const granted = asked.intersection(grantable).difference(new Set(['offline_access']));
      if (refused.size === 0 && granted.size > 0) return;
      const wrong = refused.size > 0 ? refused : asked.difference(grantable);
      // A longer access that is access to nothing (OpenID Connect Core section 11).
      if (wrong.size === 0 && asked.size > 0) grantable.delete('offline_access');
      throw invalidScope(wrong, grantable);
    },
  };
}

/** Returns all scopes that methods or tools of the space need. */
export function spaceScopes(space: Pick<TokenSpace, 'scopes'>): ReadonlySet<string> {
  return new Set(Object.values(space.scopes).flat());
}

/** Returns the scopes of a space that a client may get. An unregistered client may get those of `documentClients`. */
export function scopesFor(space: TokenSpace, clientId: string): ReadonlySet<string> {
  return isDocumentUrl(clientId) ? new Set(space.documentClients) : spaceScopes(space);
}

/**
 * Whether a machine gets tokens of the space without a scope: the space has no scopes, and the operator has named the
 * client (`client add --resource`, or `allow.clients`).
 */
function needsNoScope(space: TokenSpace, { clientId, resources }: Client): boolean {
  const named =
    strings(resources)?.some((resource) => comparable(resource) === comparable(space.url)) ||
    space.allow?.clients?.includes(clientId);
  return spaceScopes(space).size === 0 && named === true;
}

const hides = ({ hide = 'nothing' }: TokenSpace) => hide !== 'nothing';

/** Anybody may begin an authorization request in the name of a client; the other requests contain its secret. */
const isAuthenticated = ({ oidc }: KoaContextWithOIDC, { clientAuthMethod }: Client): boolean =>
  oidc.route !== 'authorization' && clientAuthMethod !== 'none';

/** Suggests the resource that was probably meant, or names a few. */
function unlike(resource: string, usable: readonly string[]): string {
  const { origin = '' } = URL.parse(resource) ?? {};
  const paths = usable.flatMap((url) => (originOf(url) === origin ? url.slice(origin.length) : []));
  const path = resource.slice(origin.length);
  const meant = path.length > LONGEST_PATH ? undefined : nearest(path, paths);
  if (meant !== undefined) return `${UNKNOWN}; did you mean ${origin}${meant}?`;
  const some = usable.slice(0, FEW);
  return `${UNKNOWN}; it may name ${list(some)}${usable.length > FEW ? ' and others' : ''}`;
}

/**
 * Returns `audience`, by which clients of other products name the resource, if the request names no `resource`. Throws
 * `invalid_target` if it is there twice.
 */
function audienceOf({ query, oidc }: KoaContextWithOIDC): string | undefined {
  const { audience, resource } = oidc.body ?? query;
  if (resource !== undefined || audience === '') return undefined;
  if (Array.isArray(audience)) throw invalidTarget('audience is there twice: send it once');
  return text(audience);
}

/** RFC 8707 section 2: throws `invalid_target` for a token of more than one resource. */
function demandOne({ oidc }: KoaContextWithOIDC): void {
  const { resource } = oidc.params ?? {};
  if (oidc.route !== 'token' || !Array.isArray(resource) || resource.length < 2) return;
  throw invalidTarget('a token is for one resource: name one');
}

/** The most characters of scopes in the log. */
const NAMED = 200;

/** The most resources that an error names, and the most characters of a path that is compared with theirs. */
const FEW = 3;
const LONGEST_PATH = 200;

const NONE = 'this client may name no resource';
const UNKNOWN = 'this client may not name this resource';

const isMachine = (ctx: KoaContextWithOIDC) =>
  ctx.oidc.params?.['grant_type'] === 'client_credentials';
const isDefaulted = (ctx: KoaContextWithOIDC) => ctx.oidc.params?.['scope'] === undefined;

const AUTHORIZATION = new Set([
  'authorization',
  'pushed_authorization_request',
  'device_authorization',
]);

function requestedScope(ctx: KoaContextWithOIDC, client: Client): ReadonlySet<string> {
  const { params = {}, route } = ctx.oidc;
  if (!isDefaulted(ctx)) return parseScope(text(params['scope']));
  // A client has to ask explicitly for access that outlives the session.
  const scopes = new Set(parseScope(text(client['default_scope'])));
  scopes.delete('offline_access');
  // The scopes that the person is asked for, and grants, are read from the request.
  if (AUTHORIZATION.has(route)) params['scope'] = [...scopes].join(' ');
  return scopes;
}

function invalidTarget(description: string) {
  const error = new errors.InvalidTarget();
  error.error_description = description;
  return error;
}

/**
 * Names the refused scopes, as far as a description may contain them (RFC 6749 section 5.2), and the scopes that the
 * client has: at the resource of the request, or only elsewhere.
 */
function invalidScope(
  refused: ReadonlySet<string>,
  may: ReadonlySet<string>,
  { at = '', elsewhere = '' } = {},
) {
  const named = [...refused].filter(isScopeToken).join(' ').slice(0, NAMED);
  const not =
    named === ''
      ? `${elsewhere || at}this client`
      : `${at}this client may not ask for ${named}; ${elsewhere}it`;
  const description = `${not} may ask for: ${list([...may])}`;
  return new errors.InvalidScope(description, [...refused].join(' '));
}

const originOf = (url: string) => URL.parse(url)?.origin;
const list = (values: readonly string[]) =>
  values.join(', ') || 'nothing: see countersign client set --help';
const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const strings = (value: unknown) =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;

/**
 * Matches the scheme and authority of an http URI without a user, with a port that does not begin with zero, and then
 * the rest.
 */
const PARTS = /^(https?:\/\/(?:[\w.~-]+|\[[\da-f:.]+\])(?::(?:[1-9]\d*)?)?)((?:[/?#].*)?)$/is;

/**
 * Returns a resource name in the form in which names are compared: scheme and host in lower case, without the default
 * port (RFC 3986 sections 6.2.2.1 and 6.2.3), and without a slash at the end, since no two spaces differ only by that.
 */
export function comparable(resource: string): string {
  const [, authority = '', rest = ''] = PARTS.exec(resource) ?? [];
  const origin = URL.parse(authority)?.origin;
  const name = origin === undefined ? resource : origin + rest;
  return name.endsWith('/') ? name.slice(0, -1) : name;
}
