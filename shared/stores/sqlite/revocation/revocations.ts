import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Revocations } from '../../revocation/revocations.ts';
import type { Statements } from '../file/connection.ts';
import { SqliteFeed } from './feed.ts';
import type { Database } from '../file/file.ts';
import { recalling } from '../file/recalled.ts';

const APPEND = 'INSERT INTO revocation (kind, id, generation, until) VALUES (?, ?, ?, ?)';

export const generationOf = (connection: Statements, kind: string, id: string): number =>
  connection.all<[generation: number]>(
    'SELECT generation FROM generation WHERE kind = ? AND id = ?',
    kind,
    id,
  )[0]?.[0] ?? 0;

/** Raises a generation within a transaction. Returns the new one. */
export function raiseIn(connection: Statements, kind: string, id: string, until: number): number {
  const generation = generationOf(connection, kind, id) + 1;
  connection.run(
    'INSERT OR REPLACE INTO generation (kind, id, generation) VALUES (?, ?, ?)',
    kind,
    id,
    generation,
  );
  append(connection, kind, id, generation, until);
  return generation;
}

function append(
  connection: Statements,
  kind: string,
  id: string,
  generation: number | null,
  until: number,
): void {
  connection.run(APPEND, kind, id, generation, Math.ceil(until));
  connection.flushMark();
}

/** `path`: of the file, which the feed follows on a connection of its own. */
export function sqliteRevocations(
  file: Database,
  path: string,
  clock: Clock,
  random: Random,
): Revocations {
  const recall = recalling<number>(file);
  const epoch = () =>
    file.read((connection) => connection.all<[id: string]>('SELECT id FROM epoch')[0]?.[0]);

  return {
    revoke: (kind, id, until) =>
      file.write((connection) => append(connection, kind, id, null, until)),
    raise: (kind, id, until) => file.write((connection) => raiseIn(connection, kind, id, until)),
    generation: (kind, id) =>
      recall(`${kind} ${id}`, (connection) => generationOf(connection, kind, id)),
    epoch: async (create) => {
      const known = await epoch();
      if (known !== undefined || !create) return known;
      await file.write((connection) =>
        connection.run(
          'INSERT INTO epoch (one, id) VALUES (1, ?) ON CONFLICT DO NOTHING',
          randomId(random),
        ),
      );
      return epoch();
    },
    feed: () => SqliteFeed.open(path, clock),
  };
}
