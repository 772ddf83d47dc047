import type { FeedEntry, FollowedProcess, Followers } from '../../revocation/followers.ts';
import type { Statements } from '../file/connection.ts';
import type { SqliteFile } from '../file/file.ts';

const OF_STORE = `SELECT (SELECT id FROM epoch), (SELECT epoch FROM settled),
  (SELECT seq FROM sqlite_sequence WHERE name = 'revocation')`;

type OfStore = [epoch: string | null, settled: string | null, last: number | null];
type Row = [id: string, confirmed: string, lease: number, beat: number];
type EntryRow = [seq: number, kind: string, id: string, generation: number | null, until: number];

/** The epoch, of which memory it is written that all is settled, and the last seq ever given. */
function ofStore(connection: Statements) {
  const [[epoch, settled, last] = [null, null, null]] = connection.all<OfStore>(OF_STORE);
  return { epoch: epoch ?? undefined, settled: settled ?? undefined, last: last ?? 0 };
}

export function sqliteFollowers(file: SqliteFile): Followers {
  return {
    look: () =>
      file.read((connection) => {
        const { epoch, settled, last } = ofStore(connection);
        const rows = connection.all<Row>('SELECT id, confirmed, lease, beat FROM followed');
        return {
          epoch,
          last: String(last),
          settled: settled === (epoch ?? ''),
          processes: rows.map(([id, confirmed, lease, beat]) => ({ id, confirmed, lease, beat })),
        };
      }),

    put: ({ id, confirmed, lease, beat }, epoch) =>
      file.write((connection) => {
        if (ofStore(connection).epoch !== epoch) return false;
        connection.run(
          'INSERT OR REPLACE INTO followed (id, confirmed, lease, beat) VALUES (?, ?, ?, ?)',
          id,
          confirmed,
          lease,
          beat,
        );
        return true;
      }),

    remove: ({ id, beat }: FollowedProcess) =>
      file.write(
        (connection) =>
          void connection.run('DELETE FROM followed WHERE id = ? AND beat = ?', id, beat),
      ),

    settle: (epoch) =>
      file.write(
        (connection) =>
          void connection.run(
            'INSERT OR REPLACE INTO settled (one, epoch) VALUES (1, ?)',
            epoch ?? '',
          ),
      ),

    page: (after, count) =>
      file.read((connection) => {
        const { epoch, last } = ofStore(connection);
        const cursor = Number(after?.entry);
        const known = after !== undefined && after.epoch === epoch && cursor <= last;
        const rows = connection.all<EntryRow>(
          'SELECT seq, kind, id, generation, until FROM revocation WHERE seq > ? ORDER BY seq LIMIT ?',
          known ? cursor : 0,
          count,
        );
        const complete = rows.length < count;
        const end = rows.at(-1)?.[0] ?? 0;
        return {
          epoch,
          last: String(complete ? Math.max(end, last) : end),
          complete,
          entries: rows.map(entryOf),
        };
      }),
  };
}

function entryOf([, kind, id, generation, until]: EntryRow): FeedEntry {
  if (kind === 'token' || kind === 'grant' || kind === 'key') return { kind, id, until };
  if (kind === 'person' || kind === 'client') {
    return { kind, id, generation: generation ?? 0, until };
  }
  throw new Error(`a revocation of ${kind} cannot be understood`);
}
