import type { Clock } from '#shared/base/clock.ts';
import type { RedisSettings } from '../settings.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import type { Recorded, Stores } from '#shared/stores/stores.ts';
import { auditInSlots } from './audit/in-slots.ts';
import { carrying } from './audit/carrying.ts';
import { auditStreams } from './audit/streams.ts';
import { redisApiKeys } from './credentials/api-keys.ts';
import { redisArtefacts } from './oauth/artefacts.ts';
import { redisClaims } from './claims/claims.ts';
import { besideParts } from './beside.ts';
import { redisClients } from './oauth/clients.ts';
import { type Commands, Connection } from './connection/connection.ts';
import { forAll } from '#shared/base/for-all.ts';
import { redisDeclared } from './declared/declared.ts';
import { redisFollowers } from './revocation/followers.ts';
import { redisInvalidations } from './cache/invalidations.ts';
import { redisKeys } from './keys/keys.ts';
import { redisLastBackup } from './last-backup/last-backup.ts';
import { checkSchema, checkServers, patienceAtStart } from './check-servers.ts';
import { redisPasskeys } from './credentials/passkeys.ts';
import { redisPeople } from './people/people.ts';
import { redisPublicKeys } from './credentials/public-keys.ts';
import { redisPush } from './push/push.ts';
import { redisReplay } from './authentication/replay.ts';
import { RedisFeed } from './revocation/revocation-feed.ts';
import { revocationKeys } from './revocation/revocation-stream.ts';
import { redisRevocations } from './revocation/revocations.ts';
import { redisOutbox } from './mail/outbox.ts';
import { redisSecondFactors } from './credentials/second-factors.ts';
import { redisSpentTokens } from './authentication/spent-tokens.ts';
import { redisTokenKeys } from './keys/token-keys.ts';
import { keepingSchema } from './schema.ts';
import { manySlots } from './connection/slots.ts';
import { topologyOf } from './connection/topology.ts';
import { redisTrees } from './trees/trees.ts';

export interface RedisDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Seconds: the longest life of a token, the skew included. */
  readonly longestLife: number;
  /** Called with the reason once nothing is to be had from the store until it is opened anew. */
  readonly moved?: ((reason: string) => void) | undefined;
}

/**
 * Milliseconds for an answer to the feed in a cluster: a master that stood still, and was replaced meanwhile, answers
 * what it was asked before it hears of that. By then the feed follows the next one.
 */
const CLUSTER_FEED = 1000;

/** Here Redis is the record itself: nothing is compared with the time when its memory began. */
const FORGETS_NOTHING = -1e9;

/** How often the connections are tried to be opened at the start. */
const ATTEMPTS = 8;

/**
 * Opens the stores on Redis. Rejects with the reason when the servers evict keys or hold a newer
 * schema, with `StoreUnavailable` when they do not answer. A feed has a life of its own.
 */
export async function openRedis(
  config: RedisSettings,
  dependencies: RedisDependencies,
): Promise<Stores> {
  const { prefix, replicas } = config;
  const { clock, random, log, longestLife, moved } = dependencies;
  const deadline = config.deadline * 1000;
  const monotonic = () => performance.now();
  const patient = topologyOf(config, { deadline: patienceAtStart(config), monotonic });
  await checkServers(patient, config, log);
  const checking = new AbortController();
  await checkSchema(await patient.shared(checking.signal), prefix).finally(() => checking.abort());
  const servers = topologyOf(config, { deadline, monotonic });
  const topology = keepingSchema(servers, prefix, { monotonic, moved });
  const { stream, epoch } = revocationKeys(prefix);
  const redis = new Connection(topology, replicas, log, deadline);
  await redis.open(ATTEMPTS);
  const slots = manySlots(prefix);
  const ofPeople = { prefix, slots, random, longestLife };
  const claims = redisClaims(redis, slots, random);
  const clustered = config.mode === 'cluster';
  const ofFeed = clustered ? Math.min(deadline, CLUSTER_FEED) : deadline;
  const followed = topologyOf(config, { deadline: ofFeed, monotonic });
  const newFeed = () =>
    new RedisFeed({
      open: async (life) => (await followed.shared(life)).owner(stream),
      redis,
      stream,
      epoch,
      clock,
      monotonic,
      deadline: ofFeed,
      replaceable: clustered,
      forgotten() {
        topology.doubt();
        // So that it is stated before another server begins the store anew.
        redis.command('GET', epoch).catch(() => {});
      },
      log,
    });
  let opened: RedisFeed | undefined;
  const openFeed = () => (opened = newFeed());
  const revocations = redisRevocations(redis, prefix, random, longestLife, openFeed);
  const running = () => (opened?.closed === false ? opened : undefined);
  const hosts = { running, open: newFeed };
  const invalidations = redisInvalidations(redis, prefix, hosts);
  const streams = auditStreams(prefix, slots.all);
  const recordable: { readonly [Part in Recorded]: (of: Commands) => Stores[Part] } = {
    apiKeys: (of) => redisApiKeys(of, slots),
    artefacts: (of) => redisArtefacts(redis, prefix, slots, clock, of),
    clients: (of) => redisClients(of, slots),
    gatewayKeys: (of) => redisKeys(of, prefix, 'gateway-keys'),
    invalidations: (of) => redisInvalidations(of, prefix, hosts),
    keys: (of) => redisKeys(of, prefix, 'keys'),
    outbox: (of) => redisOutbox(of, slots, prefix),
    passkeys: (of) => redisPasskeys(of, slots, claims),
    people: (of) => redisPeople(of, slots, claims),
    publicKeys: (of) => redisPublicKeys(redis, slots, random, of),
    revocations: (of) => redisRevocations(of, prefix, random, longestLife, openFeed),
    secondFactors: (of) => redisSecondFactors(redis, ofPeople, of),
    tokenKeys: (of) => redisTokenKeys(of, prefix),
  };
  const asked = (ask: () => Promise<unknown>) =>
    forAll(async () => {
      topology.doubt();
      await ask();
    });
  const ping = {
    reading: asked(() => redis.command('GET', epoch)),
    all: asked(() => redis.touch(epoch)),
  };
  const stores: Stores = {
    ...besideParts(redis, { prefix, clock, random, skew: FORGETS_NOTHING }),
    apiKeys: redisApiKeys(redis, slots),
    artefacts: redisArtefacts(redis, prefix, slots, clock),
    audit: auditInSlots(redis, prefix, streams, slots),
    clients: redisClients(redis, slots),
    declared: redisDeclared(redis, prefix),
    followers: redisFollowers(redis, prefix),
    gatewayKeys: redisKeys(redis, prefix, 'gateway-keys'),
    invalidations,
    keys: redisKeys(redis, prefix, 'keys'),
    lastBackup: redisLastBackup(redis, prefix),
    outbox: redisOutbox(redis, slots, prefix),
    passkeys: redisPasskeys(redis, slots, claims),
    people: redisPeople(redis, slots, claims),
    publicKeys: redisPublicKeys(redis, slots, random),
    push: redisPush(redis, slots, clock, random),
    replay: redisReplay(redis, prefix),
    revocations,
    secondFactors: redisSecondFactors(redis, ofPeople),
    spentTokens: redisSpentTokens(redis, slots, clock),
    tokenKeys: redisTokenKeys(redis, prefix),
    trees: redisTrees(redis, prefix, random),
    recorded: (part, ...texts) => recordable[part](carrying(redis, streams, texts)),
    transactional: false,
    together: (work) => work(stores),
    ping: (need = 'all') => ping[need](),
    // Redis fails as a whole, so `ping` tells.
    check: () => {},
    sweep: async () => (await revocations.sweep()) + (await invalidations.sweep()),
    async [Symbol.asyncDispose]() {
      redis[Symbol.dispose]();
    },
  };
  return stores;
}
