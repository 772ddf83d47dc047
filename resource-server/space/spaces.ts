import type { ToolScopes } from '#shared/auth/judge/tool-scopes.ts';
import { toolScopes } from '#shared/config/tool-scope.ts';
import { createStepUp } from '#shared/auth/judge/step-up.ts';
import { ORIGIN, type Principal, type ProtectionSpace } from '#shared/auth/scheme.ts';
import type { Clock } from '#shared/base/clock.ts';
import { asksDirectory, type ToldFields } from '#shared/config/identity-schema.ts';
import { isReserved } from '#shared/config/space-places.ts';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import { CACHE_METHODS, METHODS } from '#shared/http/methods.ts';
import { type TrustedProxies, trustedProxies } from '#shared/http/forwarded.ts';
import { parseTarget, type Target } from '#shared/http/target.ts';
import type { Schemes } from '#shared/auth/schemes/list.ts';
import { type Cors, listed } from '#shared/server/endpoints/cors.ts';
import { readingsOf } from './readings.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';

/** A configured protection space, with what is needed to find it and to answer a request. */
export interface Space extends ProtectionSpace {
  /** The identity of the space, and the audience of its tokens. */
  readonly url: string;
  readonly origin: string;
  /** Path segments in NFC, like the names of resources. */
  readonly segments: readonly string[];
  /** True if a request for this path belongs to this space, not to an inner space or to the server itself. */
  has(segments: readonly string[]): boolean;
  /** True if a space begins below this path. */
  encloses(path: readonly string[]): boolean;
  /** Every scope that a method or tool needs. */
  readonly allScopes: readonly string[];
  /** The additional scopes of the tools of the MCP server behind the space, which the gateway checks. */
  readonly tools?: ToolScopes;
  /** Origins whose pages may read answers (CORS). */
  readonly corsOrigins: readonly string[];
  readonly corsCredentials: boolean;
  readonly cors: Cors;
  /** True if this reading of a request's path (`readingsOf`) can be a path of this space. */
  mayHave(path: string): boolean;
  readonly serves: SpaceConfig['serves'];
  readonly upstream: SpaceConfig['upstream'];
  readonly cache?: SpaceConfig['cache'];
  /** Settings of PURGE and BAN. Absent: the space does not answer them. */
  readonly purge?: {
    /** Clients in these networks need no credentials for PURGE and BAN. */
    readonly networks: TrustedProxies;
  };
  readonly tree: SpaceConfig['tree'];
  /** The only allowed methods. Absent: all that the space supports. */
  readonly methods?: ReadonlySet<string>;
  readonly trace: SpaceConfig['trace'];
  /** Whether browsers without credentials are redirected to sign in. */
  readonly signIn?: true;
  /** The fields, beside the server's own, by which the application learns the caller. */
  readonly identity?: ToldFields;
  /** The field for API keys, if the space accepts any. */
  readonly apiKeyField?: string;
  /** The query parameter for API keys, if the space accepts them there, too. */
  readonly apiKeyQuery?: string;
}

/**
 * Finds the space of an origin with the longest path that the segments begin with: `/a/` has `/a/b`, not `/ab`. The
 * server's own paths belong to no space.
 */
type Find = (origin: string, segments: readonly string[]) => Space | undefined;

export interface Spaces {
  readonly all: readonly Space[];
  /** The spaces that are not hidden (RFC 9729 section 6.4). */
  readonly seen: readonly Space[];
  /** Finds among the visible spaces. */
  readonly find: Find;
  /** Finds among all spaces. */
  readonly findHidden: Find;
}

/** Whether a target is unambiguous as far as the space's path, and within the space by the space's rules. */
export function leadsInto({ serves, segments }: Space, { odd }: Target): boolean {
  return odd === undefined || (READS_ODD.has(serves) && odd >= segments.length);
}

const READS_ODD: ReadonlySet<Space['serves']> = new Set(['documents', 'upstream']);

/** Lets a space find the other spaces of its origin. */
interface Neighbours {
  readonly find: Find;
  /**
   * The spaces to which a path in the form of readings may belong. There are several if they differ only in spelling.
   */
  findByReading(origin: string, path: string): readonly Space[];
  encloses(origin: string, path: readonly string[]): boolean;
}

/** The part of the sign-in that spaces need for people. */
export type SpacePeople = Pick<SignIn, 'session' | 'about' | 'has'>;

/**
 * THE list: every protection space, with its schemes in the configured order, and after them sessions. `unasked`: the
 * schemes of spaces that require no second factor.
 */
export function createSpaces(
  config: Config,
  schemes: Schemes,
  people: SpacePeople,
  clock: Clock,
  unasked = schemes,
): Spaces {
  const own = new Set([config.resource, config.tls?.resource]);
  const at = (origin: string) => ({ own: own.has(origin), signIn: people.has(origin) });
  // Visible spaces do not see hidden spaces as neighbours, and hidden spaces see all.
  const amongSeen = neighbours(() => seen, at);
  const amongAll = neighbours(() => all, at);
  const shared = { people, clock, skew: config.tokens.skew };
  const all = everySpace(config).map((space) =>
    createSpace(
      space,
      { ...shared, schemes: space.secondFactor ? unasked : schemes },
      space.hide === 'everything' ? amongAll : amongSeen,
    ),
  );
  const seen = all.filter(({ hide }) => hide !== 'everything');
  return { all, seen, find: amongSeen.find, findHidden: amongAll.find };
}

/** Joins two lists, of which the first takes precedence at each address. */
export const joinSpaces = (one: Spaces, other: Spaces): Spaces => ({
  all: [...one.all, ...other.all],
  seen: [...one.seen, ...other.seen],
  find: (origin, segments) => one.find(origin, segments) ?? other.find(origin, segments),
  findHidden: (origin, segments) =>
    one.findHidden(origin, segments) ?? other.findHidden(origin, segments),
});

/** `at`: the server's own paths at an origin. */
function neighbours(
  spaces: () => readonly Space[],
  at: (origin: string) => Parameters<typeof isReserved>[1],
): Neighbours {
  let longestFirst: readonly Space[] | undefined;
  let byReading: readonly (readonly [path: string, Space])[] | undefined;
  /** The space of each segments object. A cached target has the same object at each request. */
  const known = new WeakMap<readonly string[], { origin: string; space: Space | undefined }>();

  function look(origin: string, segments: readonly string[]): Space | undefined {
    const names = segments.map((name) => name.normalize('NFC'));
    if (isReserved(`/${names[0] ?? ''}`, at(origin))) return undefined;
    longestFirst ??= spaces().toSorted((a, b) => b.segments.length - a.segments.length);
    return longestFirst.find(
      (space) => space.origin === origin && beginsWith(names, space.segments),
    );
  }

  return {
    find(origin, segments) {
      const before = known.get(segments);
      if (before?.origin === origin) return before.space;
      const space = look(origin, segments);
      known.set(segments, { origin, space });
      return space;
    },
    findByReading(origin, path) {
      if (isReserved(path, at(origin))) return [];
      byReading ??= spaces()
        .flatMap((space) => readingsOfSpace(space).map((start) => [start, space] as const))
        .toSorted(([a], [b]) => b.length - a.length);
      const found = byReading.filter(
        ([start, space]) => space.origin === origin && path.startsWith(start),
      );
      return found.filter(([start]) => start === found[0]?.[0]).map(([, space]) => space);
    },
    encloses: (origin, path) =>
      spaces().some(
        (space) =>
          space.origin === origin &&
          space.segments.length > path.length &&
          beginsWith(space.segments, path),
      ),
  };
}

const readingsOfSpace = ({ url }: Space) => readingsOf(new URL(url).pathname)?.paths ?? [];

function beginsWith(segments: readonly string[], start: readonly string[]): boolean {
  return start.every((segment, index) => segment === segments[index]);
}

/** The parts that all spaces share. */
interface SpaceParts {
  readonly schemes: Schemes;
  readonly people: SpacePeople;
  readonly clock: Clock;
  /** Seconds by which clocks may differ. */
  readonly skew: number;
}

function createSpace(config: SpaceConfig, shared: SpaceParts, others: Neighbours): Space {
  const { schemes, people } = shared;
  const { session, about } = people;
  const { find, findByReading, encloses } = others;
  const { origin, pathname } = new URL(config.url);
  const target = parseTarget(pathname);
  if (target === undefined) throw new Error(`spaces: ${config.url} has a path no request can have`);
  const scopes = new Map(Object.entries(config.scopes));
  const tools = toolScopes(config.scopes);
  const { realm, url, apiKey, cache } = config;
  const identity = config.identity?.fields ?? {};
  const site = {
    ...config,
    domain: [url],
    scopes: (method: string) => scopesFor(scopes, method === 'HEAD' ? 'GET' : method),
  };
  const space: Space = {
    realm,
    url,
    scopes: site.scopes,
    at: ORIGIN,
    schemes: [...config.schemes.map((name) => schemes[name](site)), session(config) ?? []].flat(),
    // Applications get the same data about a person for every scheme.
    ...((config.signIn || config.allow || asksDirectory(identity)) && { about }),
    ...(config.allow && { allow: allowedOf(config.allow) }),
    ...(config.authentication && { stepUp: createStepUp(config.authentication, shared) }),
    ...(config.signIn && { signIn: true }),
    ...(config.identity && { identity }),
    ...(apiKey.beside && { application: schemes['API-Key'](site) }),
    granted: grantsOf(config.grants),
    ...(config.hide && config.hide !== 'nothing' && { hide: config.hide }),
    origin,
    segments: target.segments.map((segment) => segment.normalize('NFC')),
    has: (segments) => find(origin, segments) === space,
    mayHave: (path) => findByReading(origin, path).includes(space),
    encloses: (path) => encloses(origin, path),
    ...(config.upstream && tools.size > 0 && { tools }),
    allScopes: [...new Set([...scopes.values()].flat())],
    corsOrigins: config.cors.origins,
    corsCredentials: config.cors.credentials,
    cors: listed(config.cors),
    serves: config.serves,
    upstream: config.upstream,
    ...(cache && { cache }),
    ...(cache?.purge && { purge: { networks: trustedProxies(cache.purge.networks) } }),
    tree: config.tree,
    ...(config.methods && {
      methods: new Set(['OPTIONS', ...config.methods, ...(cache?.purge ? CACHE_METHODS : [])]),
    }),
    trace: config.trace,
    ...((apiKey.beside || config.schemes.includes('API-Key')) && {
      apiKeyField: apiKey.field,
      ...(apiKey.query !== undefined && { apiKeyQuery: apiKey.query }),
    }),
  };
  return space;
}

const allowedOf = ({ groups, people, clients }: NonNullable<SpaceConfig['allow']>) => ({
  groups: new Set(groups),
  people: new Set(people),
  clients: new Set(clients),
});

/** Returns the scopes of principals whose scheme has no scopes. People get their own scopes and everyone's. */
function grantsOf({ everyone, anonymous, people }: SpaceConfig['grants']) {
  const byName = new Map(
    Object.entries(people).map(([name, scopes]) => [name, new Set([...everyone, ...scopes])]),
  );
  const others = {
    person: new Set(everyone),
    application: new Set<string>(),
    anonymous: new Set(anonymous),
  };
  return (principal: Principal): ReadonlySet<string> =>
    (principal.kind === 'person' ? byName.get(principal.name) : undefined) ??
    others[principal.kind];
}

/**
 * Returns the scopes of a method: by its name, else those of `safe` or `unsafe` (RFC 9110 section 9.2.1). A WebSocket
 * reads and writes, so it needs those of GET and `unsafe`, unless it has its own.
 */
function scopesFor(
  scopes: ReadonlyMap<string, readonly string[]>,
  method: string,
): readonly string[] {
  if (method === 'WEBSOCKET' && !scopes.has(method)) {
    return [...new Set([...scopesFor(scopes, 'GET'), ...(scopes.get('unsafe') ?? [])])];
  }
  const group = METHODS.get(method)?.safe ? 'safe' : 'unsafe';
  return scopes.get(method) ?? scopes.get(group) ?? [];
}
