import { ORIGIN, type ProtectionSpace, type Scheme } from '#shared/auth/scheme.ts';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { METHODS } from '#shared/http/methods.ts';
import { parseTarget } from '#shared/http/target.ts';

/** A configured protection space, and what a request needs to know to find it and be answered. */
export interface Space extends ProtectionSpace {
  /** Identity of the space, and audience of its tokens. */
  readonly url: string;
  readonly origin: string;
  readonly segments: readonly string[];
  /** Every scope that some method needs. */
  readonly allScopes: readonly string[];
  /** Origins whose pages may read answers (CORS). */
  readonly corsOrigins: readonly string[];
  readonly serves: SpaceConfig['serves'];
}

export type SchemeName = SpaceConfig['schemes'][number];
/** What a scheme is told of the space that it is made for. */
export type SchemeSite = Pick<Space, 'realm' | 'url' | 'scopes'> & Pick<SpaceConfig, 'nonce'>;
export type SchemeFactories = Readonly<Record<SchemeName, (site: SchemeSite) => Scheme>>;

export interface Spaces {
  readonly all: readonly Space[];
  /** The space of an origin with the longest path that the segments begin with: `/a/` has `/a/b`, not `/ab`. */
  find(origin: string, segments: readonly string[]): Space | undefined;
}

/** THE list: every protection space, with its schemes in the configured order. */
export function createSpaces(config: Config, factories: SchemeFactories): Spaces {
  const all = config.spaces.map((space) => createSpace(space, factories));
  const longestFirst = all.toSorted((a, b) => b.segments.length - a.segments.length);
  return {
    all,
    find: (origin, segments) =>
      longestFirst.find(
        (space) =>
          space.origin === origin &&
          space.segments.every((segment, index) => segment === segments[index]),
      ),
  };
}

function createSpace(config: SpaceConfig, factories: SchemeFactories): Space {
  const { origin, pathname } = new URL(config.url);
  const target = parseTarget(pathname);
  if (target === undefined) throw new Error(`spaces: ${config.url} has a path no request can have`);
  const scopes = new Map(Object.entries(config.scopes));
  const site: SchemeSite = {
    realm: config.realm,
    url: config.url,
    nonce: config.nonce,
    scopes: (method) => scopesFor(scopes, method === 'HEAD' ? 'GET' : method),
  };
  return {
    ...site,
    at: ORIGIN,
    schemes: config.schemes.map((name) => factories[name](site)),
    ...(config.hide && { hide: config.hide }),
    origin,
    segments: target.segments,
    allScopes: [...new Set([...scopes.values()].flat())],
    corsOrigins: config.cors.origins,
    serves: config.serves,
  };
}

/** The method by its name, else as `safe` or `unsafe` (RFC 9110 section 9.2.1). */
function scopesFor(scopes: ReadonlyMap<string, readonly string[]>, method: string) {
  const group = METHODS.get(method)?.safe ? 'safe' : 'unsafe';
  return scopes.get(method) ?? scopes.get(group) ?? [];
}
