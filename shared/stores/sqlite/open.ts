import { join } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { makeFolder } from '#shared/base/make-folder.ts';
import type { Random } from '#shared/base/random.ts';
import { limitsOver } from '../limits/blocks.ts';
import type { Recorded, Stores } from '../stores.ts';
import { sqliteAudit } from './audit/audit.ts';
import { carrying } from './audit/carrying.ts';
import { sqliteApiKeys } from './credentials/api-keys.ts';
import { artefactFiles } from './oauth/artefact-files.ts';
import { sqliteArtefacts } from './oauth/artefacts.ts';
import { sqliteBuckets } from './limits/buckets.ts';
import { sqliteCacheReports } from './cache/cache-reports.ts';
import { sqliteClients } from './oauth/clients.ts';
import { sqliteDeclared } from './declared/declared.ts';
import { type Database, orUnavailable, SqliteFile } from './file/file.ts';
import { sqliteFollowers } from './revocation/followers.ts';
import { sqliteInvalidations } from './cache/invalidations.ts';
import { sqliteKept } from './trees/kept.ts';
import { sqliteKeys } from './keys/keys.ts';
import { sqliteLastBackup } from './last-backup/last-backup.ts';
import { sqlitePasskeys } from './credentials/passkeys.ts';
import { sqlitePeople } from './people/people.ts';
import { sqlitePublicKeys } from './credentials/public-keys.ts';
import { sqlitePush } from './push/push.ts';
import { sqliteOutbox } from './mail/outbox.ts';
import { sqliteReplay } from './authentication/replay.ts';
import { sqliteRevocations } from './revocation/revocations.ts';
import { STATE } from './schema/state.ts';
import { TRANSIENT } from './schema/transient.ts';
import { sqliteSecondFactors } from './credentials/second-factors.ts';
import { sqliteSessions } from './authentication/sessions.ts';
import { sqliteSpentTokens } from './authentication/spent-tokens.ts';
import { steadiness } from './file/steadiness.ts';
import { sweepFile } from './file/sweep.ts';
import { sqliteTokenKeys } from './keys/token-keys.ts';
import { sqliteTrees } from './trees/trees.ts';
import { sqliteUseCounts } from './authentication/use-counts.ts';

export interface SqliteOptions {
  /** Where the two files are; made when missing, for its owner only (0700). */
  readonly folder: string;
  readonly clock: Clock;
  readonly random: Random;
  /** When a file begins to fail, and when it works again. */
  readonly log?: Log;
}

/**
 * The embedded store: two SQLite files that any number of processes of one machine open at once.
 * Rejects with `StoreUnavailable` when a file cannot be opened or is of a newer release.
 */
export async function openSqlite({
  folder,
  clock,
  random,
  log = silentLog,
}: SqliteOptions): Promise<Stores> {
  orUnavailable(folder, () => makeFolder(folder));
  const state = new SqliteFile(join(folder, STATE.file), STATE, clock, log);
  const transient = new SqliteFile(join(folder, TRANSIENT.file), TRANSIENT, clock, log);
  const files = [state, transient];
  const steady = steadiness(clock);
  const recordable: { readonly [Part in Recorded]: (file: Database) => Stores[Part] } = {
    apiKeys: sqliteApiKeys,
    artefacts: (file) => sqliteArtefacts(file, clock),
    clients: sqliteClients,
    gatewayKeys: (file) => sqliteKeys(file, 'gateway_key'),
    invalidations: (file) => sqliteInvalidations(file, state.path, clock),
    keys: (file) => sqliteKeys(file, 'key'),
    outbox: sqliteOutbox,
    passkeys: sqlitePasskeys,
    people: sqlitePeople,
    publicKeys: sqlitePublicKeys,
    revocations: (file) => sqliteRevocations(file, state.path, clock, random),
    secondFactors: sqliteSecondFactors,
    tokenKeys: sqliteTokenKeys,
  };
  /** The parts whose changes can be made together. */
  const partsOf = (file: Database) => ({
    apiKeys: sqliteApiKeys(file),
    artefacts: artefactFiles(sqliteArtefacts(file, clock), sqliteArtefacts(transient, clock)),
    audit: sqliteAudit(file),
    clients: sqliteClients(file),
    declared: sqliteDeclared(file),
    gatewayKeys: sqliteKeys(file, 'gateway_key'),
    keys: sqliteKeys(file, 'key'),
    outbox: sqliteOutbox(file),
    passkeys: sqlitePasskeys(file),
    people: sqlitePeople(file),
    publicKeys: sqlitePublicKeys(file),
    revocations: sqliteRevocations(file, state.path, clock, random),
    secondFactors: sqliteSecondFactors(file),
    tokenKeys: sqliteTokenKeys(file),
    recorded: <Part extends Recorded>(part: Part, ...texts: readonly string[]): Stores[Part] =>
      recordable[part](carrying(file, texts)),
  });
  const stores: Stores = {
    ...partsOf(state),
    cacheReports: sqliteCacheReports(transient, clock),
    followers: sqliteFollowers(state),
    invalidations: sqliteInvalidations(state, state.path, clock),
    kept: sqliteKept(transient, clock, random),
    lastBackup: sqliteLastBackup(state),
    limits: limitsOver(sqliteBuckets(transient, clock), clock),
    push: sqlitePush(state, clock),
    replay: sqliteReplay(transient, clock),
    sessions: sqliteSessions(transient, clock, random),
    spentTokens: sqliteSpentTokens(state, clock),
    trees: sqliteTrees(state, clock, random),
    useCounts: sqliteUseCounts(transient, clock),
    transactional: true,
    together: (work) => state.together((held) => work({ ...stores, ...partsOf(held) })),
    ping: async (need = 'all') => {
      for (const file of files) await file.ping(need);
    },
    check: (need) => {
      for (const file of files) file.check(need);
    },
    sweep: async () => {
      const swept = await Promise.all(files.map((file) => sweepFile(file, clock, steady)));
      for (const file of files) await file.checkpoint();
      return swept.reduce((sum, rows) => sum + rows, 0);
    },
    [Symbol.asyncDispose]: async () => {
      for (const file of files) await file[Symbol.asyncDispose]();
    },
  };
  return stores;
}
