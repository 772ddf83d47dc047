import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/base/clock.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { checkEdits } from '../../trees/edits.ts';
import { propertyBytesOf } from '../../trees/entry-bytes.ts';
import {
  type CommitOutcome,
  type Entry,
  ImpossibleEdit,
  type Lock,
  type Trees,
} from '../../trees/trees.ts';
import type { Statements } from '../file/connection.ts';
import type { SqliteFile } from '../file/file.ts';
import { commit, released, stateOf, versionOf } from './commit.ts';
import { isDetached, removeSlice, someDetached } from './detached.ts';
import { Places } from './places.ts';
import { endLeftCopies, goOnCopying, isLeftCopy, type ReservedCopy } from './reservations.ts';
import {
  COLUMNS,
  entryOf,
  IN,
  LISTED,
  type ListedRow,
  listedOf,
  type ResourceRow,
} from './resource-rows.ts';

/** Bytes: with content of this length a commit is still cheaper than a file that is synced, and its folder. */
const LONGEST_CONTENT = 16 * 1024;

/** Bytes of the dead properties of an entry that is remembered. */
const FEW_PROPERTIES = 1024;

/** How many times as long as a slice of a copy takes the others have their turn after it, and milliseconds at most. */
const REST = { share: 2, most: 50 };

const MEMBERS = `FROM resource WHERE ${IN} AND name > ? ORDER BY name LIMIT ?`;

/** In SQL: all below the collection with the id `?2` and the path `?3`, which last arrived by the edit `?4` at `?5`. */
const BELOW = `WITH RECURSIVE inside (id, path, edit, at) AS (
    SELECT ?2, ?3, ?4, ?5
    UNION ALL
    SELECT resource.id, iif(path = '', name, path || '/' || name), max(edit, arrived),
      iif(arrived > edit, arrived_at, at)
    FROM inside CROSS JOIN resource ON tree = ?1 AND parent = inside.id AND name <> ''
  )
  SELECT path, edit, at, resource.${COLUMNS}
  FROM inside CROSS JOIN resource ON tree = ?1 AND parent = inside.id AND name <> ''
  ORDER BY path, name LIMIT ?6`;

export function sqliteTrees(file: SqliteFile, clock: Clock, random: Random): Trees {
  const recall = file.recalling<Entry | undefined>(
    (entry) => entry === undefined || propertyBytesOf(entry) <= FEW_PROPERTIES,
  );
  const recallVersion = file.recalling<string | undefined>();

  async function copyInSlices(copy: ReservedCopy): Promise<void> {
    for (let isWhole = false; !isWhole;) {
      const { took, whole } = await file.write((connection) => {
        const begun = clock.monotonic();
        return {
          whole: goOnCopying(connection, copy, clock.now()),
          took: clock.monotonic() - begun,
        };
      });
      isWhole = whole;
      await sleep(Math.min(REST.share * took, REST.most));
    }
  }

  return {
    longestContent: LONGEST_CONTENT,

    get: (tree, path) =>
      recall(JSON.stringify([tree, path]), (connection) => {
        const find = () => new Places(connection, tree).find(path)?.entry;
        return path.includes('/') ? connection.snapshot(find) : find();
      }),

    look: (tree, paths) =>
      file.read((connection) =>
        connection.snapshot(() => {
          const { locksVersion, bytes, entries } = stateOf(connection, tree);
          const places = new Places(connection, tree);
          return {
            entries: new Map(paths.map((path) => [path, places.find(path)?.entry])),
            locks: connection
              .all<[record: string]>('SELECT record FROM tree_lock WHERE tree = ?', tree)
              .map(([record]): Lock => JSON.parse(record)),
            locksVersion: String(locksVersion),
            usage: { bytes, entries },
          };
        }),
      ),

    version: (tree) => recallVersion(tree, (connection) => versionOf(connection, tree)),

    members: (tree, collection, after, limit) =>
      file.read((connection) =>
        connection.snapshot(() => {
          const place = new Places(connection, tree).of(collection);
          return (
            place &&
            connection
              .all<ResourceRow>(`SELECT ${COLUMNS} ${MEMBERS}`, tree, place.id, after, limit)
              .map((row) => entryOf(collection.path, place.arrival, row))
          );
        }),
      ),

    list: (tree, path, after, limit) =>
      file.read((connection) =>
        connection.snapshot(() => {
          const place = new Places(connection, tree).at(path);
          return (
            place && {
              version: versionOf(connection, tree),
              members: connection
                .all<ListedRow>(`SELECT ${LISTED} ${MEMBERS}`, tree, place.id, after, limit)
                .map((row) => listedOf(path, place.arrival, row)),
            }
          );
        }),
      ),

    below: (tree, path, limit) =>
      file.read((connection) =>
        connection.snapshot(() => {
          const place = new Places(connection, tree).at(path);
          if (place === undefined) return [];
          const { id, arrival } = place;
          return connection
            .all<[parent: string, edit: number, at: number, ...ResourceRow]>(
              BELOW,
              tree,
              id,
              path,
              arrival.edit,
              arrival.at,
              limit,
            )
            .map(([parent, edit, at, ...row]) => entryOf(parent, { edit, at }, row));
        }),
      ),

    commit: async (tree, change) => {
      checkEdits(change.edits, LONGEST_CONTENT);
      const makesRoom = change.edits.every(({ kind }) => kind === 'remove' || kind === 'unlock');
      const attempt = async (made?: ReservedCopy): Promise<CommitOutcome> => {
        const version = randomId(random);
        const outcome = await file.write(
          (connection) => commit(connection, tree, change, { version, now: clock.now(), made }),
          { makesRoom },
        );
        if (outcome instanceof ImpossibleEdit) throw outcome;
        if (outcome.kind !== 'to copy') return outcome;
        await copyInSlices(outcome.copy);
        return attempt(outcome.copy);
      };
      return attempt();
    },

    clear: async () => {
      const work = (connection: Statements) => {
        endLeftCopies(connection, clock.now());
        const some = someDetached(connection);
        if (some === undefined) return undefined;
        const { tree, detached } = some;
        const dropped = new Set(removeSlice(connection, tree, detached));
        return { tree, released: released(connection, tree, dropped) };
      };
      const isLeft = (connection: Statements) =>
        isDetached(connection) || isLeftCopy(connection, clock.now());
      return (await file.read(isLeft)) ? file.write(work, { makesRoom: true }) : undefined;
    },

    content: (tree, name) =>
      file.read((connection) => {
        const [row] = connection.all<[bytes: NodeJS.NonSharedUint8Array]>(
          'SELECT bytes FROM content WHERE tree = ? AND file = ?',
          tree,
          name,
        );
        if (row === undefined) return undefined;
        const [{ buffer, byteOffset, length }] = row;
        return Buffer.from(buffer, byteOffset, length);
      }),

    files: (tree) =>
      file.read(
        (connection) =>
          new Set(
            connection
              .all<[file: string]>(
                `SELECT DISTINCT file FROM resource WHERE tree = ?1 AND file IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM content WHERE tree = ?1 AND file = resource.file)`,
                tree,
              )
              .flat(),
          ),
      ),
  };
}
