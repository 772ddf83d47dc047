import { createStepUp } from '#shared/auth/judge/step-up.ts';
import { scopesOfCalls } from '#shared/auth/judge/tool-scopes.ts';
import { issuedTokens } from '#shared/auth/tokens/issued-tokens.ts';
import { issuerClock } from '#shared/auth/tokens/issuer-clock.ts';
import { createJwks } from '#shared/auth/tokens/jwks.ts';
import { oauthSchemes } from '#shared/auth/schemes/oauth-schemes.ts';
import { ORIGIN, type Outcome } from '#shared/auth/scheme.ts';
import { oauthSpace } from '#shared/auth/schemes/parts/oauth.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { proofsOver } from '#shared/stores/authentication/proofs.ts';
import { checkSignIn } from './check-authentication.ts';
import { checkListed, checkScopes } from './check-options.ts';
import { createDecide, type Decide } from './decide.ts';
import { fastifyHook } from './fastify.ts';
import { type Fetch, fetchText } from './fetch-text.ts';
import { judgeBy, responseOf } from './fetch-style.ts';
import { createFollower } from './follower.ts';
import type { Guard, RouteGuard } from './guard.ts';
import { koaMiddleware } from './koa.ts';
import { leasedFeed } from './leased-feed.ts';
import { memoryReplay } from './memory-replay.ts';
import { describe } from './metadata.ts';
import { nodeGuard } from './node.ts';
import type { GuardLog, NeededSignIn, ProtectOptions } from './options.ts';
import { redisReplay } from './redis-replay.ts';
import type { RevocationFeed, RevocationView } from '#shared/stores/revocation/revocations.ts';

/** The parts of the process that a guard uses. */
export interface Outside {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Fetch;
  /** The sign that other processes serve the same API; undefined without a sign. */
  readonly several: string | undefined;
  readonly log: GuardLog;
  /** The revocations, if the guard need not fetch them from the authorization server, as in tests. */
  readonly feed?: typeof UNFOLLOWED;
}

/** The times of the key set, as in the servers of the pair. */
const JWKS = { maxAge: 300, cooldown: 30 };
/** Seconds by which the clocks may differ. */
const SKEW = 5;
/** Bytes. */
const SECRET = 32;
const UNTOLD =
  "a revoked token is good until it expires: set client, or revocation: 'none' to accept that";

/** Creates a guard from the parts that the resource server uses, too. The caller has checked the options. */
export function createGuard(options: ProtectOptions, outside: Outside): Guard {
  const { issuer, issuerUrl = issuer, dpop = {}, log = outside.log } = options;
  const { clock, random } = outside;
  const { href: resource, origin, host } = new URL(options.resource);
  const { name = host } = options;
  const listed = options.scopes;
  const scopes = typeof listed === 'function' ? listed : () => listed;

  const { hear } = issuerClock({ issuer, clock, skew: SKEW, log });
  const fetch: Fetch = async (...asked) => {
    const heard = hear();
    const answer = await outside.fetch(...asked);
    const { headers } = answer;
    heard({ date: headers.get('date') ?? undefined, age: headers.get('age') ?? undefined });
    return answer;
  };
  const jwks = createJwks({
    url: `${issuerUrl}/jwks`,
    fetch: async (url): Promise<unknown> => JSON.parse(await fetchText(fetch, url)),
    clock,
    ...JWKS,
    log,
  });
  const { client, revocation = client ? 'follow' : 'none' } = options;
  if (client === undefined && options.revocation === undefined && outside.feed === undefined) {
    log.warn('revocations.unfollowed', { reason: UNTOLD });
  }
  const { id = '', secret: password = '' } = client ?? {};
  const followed = () =>
    revocation === 'none'
      ? UNFOLLOWED
      : leasedFeed({
          ask: createFollower({
            issuer,
            issuerUrl,
            client: { id, secret: password },
            fetch,
            clock,
          }),
          clock,
          log,
          ...(revocation !== 'follow' && { stale: revocation.for }),
        });
  const feed = outside.feed ?? followed();
  const tokens = issuedTokens({ issuer, jwks, feed, clock, skew: SKEW });
  const { required = false, nonce = false, secret, replay } = dpop || {};
  const schemes = oauthSchemes({
    tokens,
    proofs: proofsOver(replay ? redisReplay(replay) : memoryReplay(clock, warnOfSeveral)),
    master: secret === undefined ? random(SECRET) : Buffer.from(secret),
    clock,
  });
  const judged = new WeakMap<object, Outcome>();

  const signIns = [options.authentication ?? []].flat();

  /** Returns the guard for requests that need these scopes, or this sign-in, beside those of the method. */
  function guardOf(more: readonly string[], signIn: readonly NeededSignIn[] = []) {
    const needed = (method: string) => {
      const usual = scopes(method);
      return usual.concat(more.filter((scope) => !usual.includes(scope)));
    };
    const space = oauthSpace({ realm: name, url: resource, scopes: needed });
    const taken = [
      ...(required ? [] : [schemes.bearer(space)]),
      ...(dpop === false ? [] : [schemes.dpop({ ...space, nonce })]),
    ];
    const stepUp = createStepUp([...signIns, ...signIn], { clock, skew: SKEW });
    const protection = { at: ORIGIN, realm: name, schemes: taken, scopes: needed, stepUp };
    return { taken, decide: createDecide(protection, { origin, log, judged }) };
  }

  const { taken, decide } = guardOf([]);
  const metadata = describe({
    issuer,
    resource,
    name,
    schemes: taken.map((scheme) => scheme.name),
    scopes,
  });

  function warnOfSeveral(): void {
    if (outside.several === undefined) return;
    log.warn('dpop.replay', {
      reason: `several processes are likely (${outside.several}), and each remembers alone which proofs were used: a proof that was stolen is good once in each`,
      remedy: 'give dpop.replay a client of node-redis or ioredis',
    });
  }

  return {
    ...inFrameworks(decide, metadata.beside(decide)),
    scopes(...more) {
      const mistake = checkScopes(more);
      if (mistake !== undefined) throw new TypeError(`scopes ${mistake}`);
      const route = guardOf(more).decide;
      return inFrameworks(route, route);
    },
    tools(needed) {
      for (const [tool, more] of Object.entries(needed)) {
        const mistake = checkListed(more);
        if (mistake !== undefined) throw new TypeError(`tools.${tool} ${mistake}`);
      }
      const asked = new Map(Object.entries(needed));
      return (message) => {
        const route = guardOf(scopesOfCalls(asked, message)).decide;
        return inFrameworks(route, route);
      };
    },
    signIn(needed) {
      const mistake = checkSignIn(needed);
      if (mistake !== undefined) throw new TypeError(`signIn ${mistake}`);
      const route = guardOf([], [needed]).decide;
      return inFrameworks(route, route);
    },
    metadata: () => responseOf(metadata.answer),
    metadataPath: metadata.path,
    close: async () => feed[Symbol.asyncDispose](),
  };
}

/** `beside`: the decision that also includes the answers that middleware gives by itself. */
const inFrameworks = (decide: Decide, beside: Decide): RouteGuard => ({
  judge: judgeBy(decide),
  node: nodeGuard(beside),
  koa: () => koaMiddleware(beside),
  fastify: () => fastifyHook(beside),
});

const NOTHING: RevocationView = {
  epoch: undefined,
  revokedBy: () => undefined,
  generation: () => 0,
  raises: 0,
  raisedSince: () => false,
};

/** The feed of a guard that does not follow revocations: it contains none. */
const UNFOLLOWED: Omit<RevocationFeed, 'current' | 'status'> = {
  latest: () => NOTHING,
  onKeyRevoked: () => {},
  [Symbol.asyncDispose]: async () => {},
};
