import { join } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { makeFolder } from '#shared/base/make-folder.ts';
import type { Random } from '#shared/base/random.ts';
import { since } from '../authentication/since.ts';
import { type Engine, heldStores, sqlParts } from '../sql/parts.ts';
import type { Stores } from '../stores.ts';
import { SqliteFile } from './file/file.ts';
import { orUnavailable } from './file/write-fault.ts';
import { sweepFile } from './file/sweep.ts';
import { openSqliteFeed, openSqliteInvalidationFeed } from './feeds.ts';
import { LONGEST_CONTENT, STATE, TRANSIENT } from './schema/state.ts';

export interface SqliteOptions {
  /** The folder of the two files; made if missing, for its owner only (0700). */
  readonly folder: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Gets the begin and the end of failures. */
  readonly log?: Log;
  /** Seconds by which our clocks may differ: a restore may come from another machine. Default: 0. */
  readonly skew?: number;
}

/** Opens the embedded store: two SQLite files, which all processes of a machine share. */
export async function openSqlite({
  folder,
  clock,
  random,
  log = silentLog,
  skew = 0,
}: SqliteOptions): Promise<Stores> {
  orUnavailable(folder, () => makeFolder(folder));
  const state = new SqliteFile(join(folder, STATE.file), STATE, clock, log);
  const transient = new SqliteFile(join(folder, TRANSIENT.file), TRANSIENT, clock, log);
  const files = [state, transient];
  const steady = steadiness(clock);
  const engine: Engine = {
    record: state,
    passing: transient,
    once: transient,
    clock,
    sharedClock: clock,
    random,
    longestContent: LONGEST_CONTENT,
    revocations: {
      feed: () => openSqliteFeed(state.path, clock),
      // A reader sees only rows on the disk.
      untilKnown: async () => {},
    },
    invalidationFeed: (listener, from) =>
      openSqliteInvalidationFeed(state.path, clock, listener, from),
  };
  const inSql = sqlParts(engine);
  const [[restored] = [0]] = await state.read((sql) =>
    sql.all<[number]>('SELECT restored FROM tally'),
  );
  const stores: Stores = {
    ...inSql,
    ...since(inSql, { clock, restored, skew }),
    together: (work) => state.together((held) => work(heldStores(stores, held, engine))),
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

/** Milliseconds by which the two clocks may drift apart between two looks. */
const TOLERANCE = 5_000;
/** Milliseconds. No proof, nonce or assertion is valid for longer, and they are remembered without a margin. */
const DOUBT = 2 * 3_600_000;

/** Tells whether the wall clock may decide what has expired: not for two hours after a jump. */
function steadiness(clock: Clock): () => boolean {
  const offset = () => clock.now() - clock.monotonic();
  let known = offset();
  let jumped = -Infinity;
  return () => {
    const found = offset();
    if (Math.abs(found - known) > TOLERANCE) jumped = clock.monotonic();
    known = found;
    return clock.monotonic() - jumped >= DOUBT;
  };
}
