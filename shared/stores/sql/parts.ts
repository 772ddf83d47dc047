import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { proofsOver } from '../authentication/proofs.ts';
import { limitsOver } from '../limits/blocks.ts';
import type { Recorded, Stores } from '../stores.ts';
import { sqlAudit } from './audit/audit.ts';
import { carrying } from './audit/carrying.ts';
import { sqlReplay } from './authentication/replay.ts';
import { sqlSessions } from './authentication/sessions.ts';
import { sqlSpentTokens } from './authentication/spent-tokens.ts';
import { sqlUseCounts } from './authentication/use-counts.ts';
import { sqlCacheReports } from './cache/cache-reports.ts';
import { sqlInvalidations } from './cache/invalidations.ts';
import { sqlApiKeys } from './credentials/api-keys.ts';
import { sqlPasskeys } from './credentials/passkeys.ts';
import { sqlPublicKeys } from './credentials/public-keys.ts';
import { sqlSecondFactors } from './credentials/second-factors.ts';
import { sqlDeclared } from './declared/declared.ts';
import { sqlKeys } from './keys/keys.ts';
import { sqlTokenKeys } from './keys/token-keys.ts';
import { sqlLastBackup } from './last-backup/last-backup.ts';
import { sqlBuckets } from './limits/buckets.ts';
import { moments } from './moments.ts';
import { sqlOutbox } from './mail/outbox.ts';
import { artefactsByKind, sqlArtefacts } from './oauth/artefacts.ts';
import { sqlClients } from './oauth/clients.ts';
import { sqlLogouts } from './logout/logouts.ts';
import { sqlPeople } from './people/people.ts';
import { sqlPush } from './push/push.ts';
import { sqlFollowers } from './revocation/followers.ts';
import { sqlRevocations } from './revocation/revocations.ts';
import type { Database } from './sql.ts';
import { sqlKept } from './trees/kept.ts';
import { sqlTrees } from './trees/trees.ts';

/** The parts of a database engine that the verbs use. */
export interface Engine {
  /** The tables whose rows must not be lost. */
  readonly record: Database;
  /** The tables whose last rows may be lost in a power cut. */
  readonly passing: Database;
  /** Remembers what may be used once: proofs, counts, sessions. A failover must not lose its last rows. */
  readonly once: Database;
  readonly clock: Clock;
  /** The clock that all processes share. Rows of the passing tables, leases and locks expire by it. */
  readonly sharedClock: Clock;
  readonly random: Random;
  /** The most octets of content that the engine can store. */
  readonly longestContent: number;
  readonly revocations: Pick<Stores['revocations'], 'feed' | 'untilKnown'>;
  readonly invalidationFeed: Stores['invalidations']['feed'];
}

/** The parts whose changes can be made together, on a database. */
type Together = Pick<Stores, Recorded | 'audit' | 'declared' | 'recorded'>;

type Parts = Omit<Stores, 'together' | 'ping' | 'check' | 'sweep' | typeof Symbol.asyncDispose>;

/** Returns the parts whose changes can be one transaction. `database`: the engine's, or the one of a transaction. */
function togetherOn(database: Database, engine: Engine): Together {
  const { passing, once, clock, sharedClock, random, revocations, invalidationFeed } = engine;
  const recordable: { readonly [Part in Recorded]: (of: Database) => Stores[Part] } = {
    apiKeys: sqlApiKeys,
    artefacts: (of) => sqlArtefacts(of, clock),
    clients: (of) => sqlClients(of, clock),
    gatewayKeys: (of) => sqlKeys(of, 'gateway_key'),
    invalidations: (of) => sqlInvalidations(of, clock, invalidationFeed),
    keys: (of) => sqlKeys(of, 'key'),
    logouts: (of) => sqlLogouts(of, moments(clock, sharedClock)),
    outbox: (of) => sqlOutbox(of, moments(clock, sharedClock)),
    passkeys: sqlPasskeys,
    people: sqlPeople,
    publicKeys: sqlPublicKeys,
    revocations: (of) => sqlRevocations(of, { clock, random }, revocations),
    secondFactors: (of) => sqlSecondFactors(of, clock),
    tokenKeys: sqlTokenKeys,
  };
  const parts = Object.fromEntries(
    Object.entries(recordable).map(([part, on]) => [part, on(database)]),
  ) as Pick<Stores, Recorded>;
  return {
    ...parts,
    artefacts: artefactsByKind(parts.artefacts, {
      ...sqlArtefacts(passing, sharedClock, 'passing_artefact'),
      // A pushed request may be used once.
      consume: sqlArtefacts(once, sharedClock, 'passing_artefact').consume,
    }),
    audit: sqlAudit(database, clock),
    declared: sqlDeclared(database),
    recorded: (part, ...texts) => recordable[part](carrying(database, texts)),
  };
}

/** Returns the stores within a transaction. */
export function heldStores(stores: Stores, held: Database, engine: Engine): Stores {
  const within: Stores = {
    ...stores,
    ...togetherOn(held, engine),
    together: (work) => work(within),
  };
  return within;
}

/** Returns all parts whose SQL is the same for both engines. */
export function sqlParts(engine: Engine): Parts {
  const { record, passing, once, clock, sharedClock, random, longestContent } = engine;
  const replay = sqlReplay(once, sharedClock);
  return {
    ...togetherOn(record, engine),
    cacheReports: sqlCacheReports(passing, sharedClock),
    followers: sqlFollowers(record),
    kept: sqlKept(passing, sharedClock, random),
    lastBackup: sqlLastBackup(record),
    limits: limitsOver(sqlBuckets(passing, sharedClock), sharedClock),
    proofs: proofsOver(replay),
    push: sqlPush(record, clock),
    replay,
    sessions: sqlSessions(once, sharedClock, random),
    spentTokens: sqlSpentTokens(record, clock),
    trees: sqlTrees(record, {
      moments: moments(clock, sharedClock),
      monotonic: () => clock.monotonic(),
      random,
      longestContent,
    }),
    useCounts: sqlUseCounts(once, sharedClock),
  };
}
