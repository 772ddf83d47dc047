import { issuedTokens } from '#shared/auth/issued-tokens.ts';
import { createJwks } from '#shared/auth/jwks.ts';
import { oauthSchemes } from '#shared/auth/oauth-schemes.ts';
import { ORIGIN } from '#shared/auth/scheme.ts';
import { oauthSpace } from '#shared/auth/schemes/oauth.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { createDecide } from './decide.ts';
import { fastifyHook } from './fastify.ts';
import { type Fetch, fetchText } from './fetch-text.ts';
import { judgeBy, responseOf } from './fetch-style.ts';
import { createFollower } from './follower.ts';
import type { Guard } from './guard.ts';
import { koaMiddleware } from './koa.ts';
import { leasedFeed } from './leased-feed.ts';
import { memoryReplay } from './memory-replay.ts';
import { describe } from './metadata.ts';
import { nodeMiddleware } from './node.ts';
import type { GuardLog, ProtectOptions } from './options.ts';
import { redisReplay } from './redis-replay.ts';
import { UNFOLLOWED } from './unfollowed.ts';

/** What a guard has of the process that it is in. */
export interface Outside {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Fetch;
  /** By what it looks as if other processes served the same API. */
  readonly several: string | undefined;
  readonly log: GuardLog;
}

/** As the servers of the pair have them. */
const JWKS = { maxAge: 300, cooldown: 30 };
/** Seconds by which the clocks may differ. */
const SKEW = 5;
/** Bytes. */
const SECRET = 32;

/** Puts it together of what the resource server has too. The options have been checked. */
export function createGuard(options: ProtectOptions, outside: Outside): Guard {
  const { issuer, issuerUrl = issuer, dpop = {}, log = outside.log } = options;
  const { clock, random, fetch } = outside;
  const { href: resource, origin, host } = new URL(options.resource);
  const { name = host } = options;
  const listed = options.scopes;
  const scopes = typeof listed === 'function' ? listed : () => listed;

  const jwks = createJwks({
    url: `${issuerUrl}/jwks`,
    fetch: async (url): Promise<unknown> => JSON.parse(await fetchText(fetch, url)),
    clock,
    ...JWKS,
    log,
  });
  const { client, revocation = client ? 'follow' : 'none' } = options;
  const feed =
    client && revocation !== 'none'
      ? leasedFeed({
          ask: createFollower({ issuer, issuerUrl, client, fetch, clock }),
          clock,
          log,
          ...(revocation !== 'follow' && { stale: revocation.for }),
        })
      : UNFOLLOWED;
  const tokens = issuedTokens({ issuer, jwks, feed, clock, skew: SKEW });
  const { required = false, nonce = false, secret, replay } = dpop || {};
  const schemes = oauthSchemes({
    tokens,
    replay: replay ? redisReplay(replay) : memoryReplay(clock, warnOfSeveral),
    master: secret === undefined ? random(SECRET) : Buffer.from(secret),
    clock,
  });
  const space = oauthSpace({ realm: name, url: resource, scopes });
  const taken = [
    ...(required ? [] : [schemes.bearer(space)]),
    ...(dpop === false ? [] : [schemes.dpop({ ...space, nonce })]),
  ];
  const decide = createDecide({ at: ORIGIN, realm: name, schemes: taken, scopes }, origin, log);
  const metadata = describe({
    issuer,
    resource,
    name,
    schemes: taken.map((scheme) => scheme.name),
    scopes,
  });
  const decideBeside = metadata.beside(decide);

  function warnOfSeveral(): void {
    if (outside.several === undefined) return;
    log.warn('dpop.replay', {
      reason: `several processes are likely (${outside.several}), and each remembers alone which proofs were used: a proof that was stolen is good once in each`,
      remedy: 'give dpop.replay a client of node-redis or ioredis',
    });
  }

  return {
    judge: judgeBy(decide),
    node: () => nodeMiddleware(decideBeside),
    koa: () => koaMiddleware(decideBeside),
    fastify: () => fastifyHook(decideBeside),
    metadata: () => responseOf(metadata.answer),
    metadataPath: metadata.path,
    close: async () => feed[Symbol.asyncDispose](),
  };
}
