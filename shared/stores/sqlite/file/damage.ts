import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { UNDOING } from '../../sql/tables.ts';
import { BUSY_TIMEOUT, type Connection, markOf } from './connection.ts';
import { Mark } from './mark.ts';
import { readWal, type Wal } from './wal.ts';

interface Damage {
  readonly reason: string;
  /** The number of commits that there should be. */
  readonly acknowledged: number;
  /** The salt of a damaged WAL. */
  readonly salt?: string;
}

type Find = (connection: Connection) => Damage | undefined;

const walOf = (path: string) => readWal(`${path}-wal`);

const isSame = (one: Wal | undefined, other: Wal | undefined) =>
  one?.salt === other?.salt && one?.good === other?.good;

/** Call this before SQLite opens the file and drops damaged frames. The result finds lost commits in the open file. */
export function lookBefore(path: string): Find {
  // Other processes may write meanwhile. Real damage looks the same twice.
  let wal = walOf(path);
  for (let before: Wal | undefined; wal?.isBroken && !isSame(wal, before);) {
    [before, wal] = [wal, walOf(path)];
  }
  using mark = new Mark(markOf(path));
  const acknowledged = mark.read();
  return (connection) => {
    const missing = acknowledged - tallyOf(connection).commits;
    if (missing > 0) {
      return { reason: `${missing} acknowledged transactions are missing`, acknowledged };
    }
    if (!wal?.isBroken) return undefined;
    const reason = 'transactions follow a damaged one in its WAL';
    return { reason, acknowledged, salt: wal.salt };
  };
}

/** Returns a function that finds damage in the WAL of an open file, which SQLite would not report. */
export const lookMeanwhile =
  (path: string): Find =>
  (connection) => {
    const look = () => {
      const { frames } = connection;
      const wal = frames > 0 ? walOf(path) : undefined;
      return { wal, isWhole: frames <= (wal?.good ?? 0) };
    };
    const first = look();
    if (first.isWhole) return undefined;
    // SQLite may have restarted the WAL during the look.
    const second = look();
    if (second.isWhole || !isSame(first.wal, second.wal)) return undefined;
    const reason = 'a page in its WAL was changed or is missing';
    return { reason, acknowledged: 0, salt: first.wal?.salt ?? 'none' };
  };

/** After damage, ends everything that the loss could bring back, and reports it. Throws `StoreUnavailable`. */
export function endIfDamaged(
  connection: Connection,
  find: Find,
  { path, file, clock, log }: Where,
): void {
  const damage = find(connection);
  const isNew = () => damage !== undefined && !isTold(damage, tallyOf(connection));
  if (damage === undefined || !isNew()) return;
  const check = String(connection.all('PRAGMA quick_check(1)').flat()[0]);
  if (check !== 'ok') {
    const reason = `${damage.reason}, and tables are damaged: restore a backup (${check})`;
    log.error('store.damaged', { part: file, reason });
    throw new StoreUnavailable(`${path}: ${reason}`);
  }
  let isFirst = false;
  const end = () => {
    // Another process may have been faster.
    isFirst = isNew();
    if (!isFirst) return;
    for (const table of UNDOING) connection.run(`DELETE FROM ${table}`);
    const { reason, salt, acknowledged } = damage;
    const sql = 'UPDATE tally SET commits = max(commits, ?), damaged = ifnull(?, damaged)';
    connection.run(sql, acknowledged, salt ?? null);
    const time = new Date(clock.now()).toISOString();
    const event = { time, who: 'server', how: 'start', kind: 'store.damaged', reason };
    connection.run('INSERT INTO audit_open (text) VALUES (?)', JSON.stringify(event));
    connection.flush();
  };
  if (!connection.write(end, BUSY_TIMEOUT)) throw new StoreUnavailable(`${path} is locked`);
  // A new WAL has a new salt, so the next damage is reported, too.
  connection.checkpoint('TRUNCATE');
  if (!isFirst) return;
  log.error('store.damaged', {
    part: file,
    reason: `${damage.reason}. All tokens, grants and sign-ins end. What was changed last may be undone: do it again, or restore a backup`,
  });
}

interface Where {
  readonly path: string;
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
}

type Tally = ReturnType<typeof tallyOf>;

/** Whether the damage was handled before. */
const isTold = ({ salt, acknowledged }: Damage, { commits, damaged }: Tally): boolean =>
  salt === undefined ? commits >= acknowledged : damaged === salt;

function tallyOf(connection: Connection) {
  const [[commits, damaged] = [0, null]] = connection.all<
    [commits: number, damaged: string | null]
  >('SELECT commits, damaged FROM tally');
  return { commits, damaged };
}
