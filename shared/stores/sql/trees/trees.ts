import { setTimeout as sleep } from 'node:timers/promises';
import { allOf, andThen } from '#shared/base/awaitable.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { checkEdits } from '../../trees/edits.ts';
import { propertyBytesOf } from '../../trees/entry-bytes.ts';
import type { CommitOutcome, Entry, Lock, Trees, TreeView } from '../../trees/trees.ts';
import type { Moments } from '../moments.ts';
import type { Database, Sql, Transaction } from '../sql.ts';
import { commit, outcomeOf, released, reserve } from './commit.ts';
import { isDone } from './copying.ts';
import { detachedIn, removeSlice, treeWithDetached } from './detached.ts';
import { headOf, lockHead } from './head.ts';
import { entryAt, Places, STEPS } from './places.ts';
import {
  endCopy,
  endLeftCopies,
  goOnCopying,
  type ReservedCopy,
  treeWithLeftCopy,
} from './reservations.ts';
import {
  COLUMNS,
  entryOf,
  IN,
  LISTED,
  type ListedRow,
  listedOf,
  type ResourceRow,
} from './resource-rows.ts';

/** Bytes of the dead properties of an entry that is remembered. */
const FEW_PROPERTIES = 1024;

/** The rest of a copy after each slice: a multiple of the slice's time, and milliseconds at most. */
const REST = { share: 2, most: 50 };

const MEMBERS = `FROM resource WHERE ${IN} AND name > ? ORDER BY name LIMIT ?`;

/** In SQL: all below the collection `?2` at the path `?3`, which arrived by the edit `?4` at `?5`. */
const BELOW = `WITH RECURSIVE inside (of, id, path, edit, at) AS (
    SELECT name, CAST(?2 AS BIGINT), substr(name, 1, 0) || CAST(?3 AS TEXT), CAST(?4 AS BIGINT), CAST(?5 AS BIGINT)
    FROM tree WHERE name = ?1
    UNION ALL
    SELECT of, resource.id, CASE WHEN path = '' THEN name ELSE path || '/' || name END,
      CASE WHEN arrived > edit THEN arrived ELSE edit END, CASE WHEN arrived > edit THEN arrived_at ELSE at END
    FROM inside CROSS JOIN resource ON tree = of AND parent = inside.id AND name <> ''
  )
  SELECT path, edit, at, resource.${COLUMNS}
  FROM inside CROSS JOIN resource ON tree = of AND parent = inside.id AND name <> ''
  ORDER BY path, name LIMIT ?6`;

type BelowRow = readonly [parent: string, edit: number, at: number, ...ResourceRow];

interface TreesOptions {
  readonly moments: Moments;
  /** Milliseconds of a clock that no program sets. */
  readonly monotonic: () => number;
  readonly random: Random;
  /** Bytes of the longest content that the engine keeps. */
  readonly longestContent: number;
}

export function sqlTrees(
  database: Database,
  { moments, monotonic, random, longestContent }: TreesOptions,
): Trees {
  const recall = database.recalling<Entry | undefined>(
    (entry) => entry === undefined || propertyBytesOf(entry) <= FEW_PROPERTIES,
  );
  const recallVersion = database.recalling<string | undefined>();
  const { now, toShared, toOwn } = moments;

  /** Resolves to the finished copy, or to its state when it was broken. */
  async function copyInSlices(tree: string, begun: ReservedCopy): Promise<ReservedCopy> {
    for (let copy = begun; ;) {
      const { next, took } = await database.write(
        async (sql) => {
          await lockHead(sql, tree);
          const began = monotonic();
          const copied = await goOnCopying(sql, copy, now());
          return { next: copied, took: monotonic() - began };
        },
        { turn: tree },
      );
      await sleep(Math.min(REST.share * took, REST.most));
      if (next === undefined) return copy;
      if (isDone(next.copying)) return next;
      copy = next;
    }
  }

  const endIn = (tree: string, { token }: ReservedCopy): Promise<boolean> =>
    database.write(
      async (sql) => {
        await lockHead(sql, tree);
        return endCopy(sql, token, randomId(random));
      },
      { makesRoom: true, turn: tree },
    );

  return {
    clock: moments,
    longestContent,

    get: (tree, path) =>
      path.split('/').length > STEPS
        ? database.snapshot(async (sql) => (await new Places(sql, tree).find(path))?.entry)
        : recall(JSON.stringify([tree, path]), (sql) => entryAt(sql, tree, path)),

    look: (tree, paths) =>
      database.snapshot((sql) => {
        const places = new Places(sql, tree);
        const wanted = new Set(paths);
        const all = () =>
          allOf([
            headOf(sql, tree),
            places.findEach(wanted),
            sql.last.all<[record: string]>('SELECT record FROM tree_lock WHERE tree = ?', tree),
          ]);
        return andThen(
          andThen(places.findMany(wanted), all),
          ([{ locksVersion, bytes, entries }, found, locks]): TreeView => ({
            entries: new Map([...found].map(([path, one]) => [path, one?.entry])),
            locks: locks.map(([record]) => {
              const lock = JSON.parse(record) as Lock;
              return Object.assign(lock, { expires: toOwn(lock.expires) });
            }),
            locksVersion: String(locksVersion),
            usage: { bytes, entries },
          }),
        );
      }),

    version: (tree) => recallVersion(tree, async (sql) => (await headOf(sql, tree)).version),

    members: (tree, collection, after, limit) =>
      database.snapshot(async (sql) => {
        const place = await new Places(sql, tree).of(collection);
        if (place === undefined) return undefined;
        const text = `SELECT ${COLUMNS} ${MEMBERS}`;
        const rows = await sql.last.all<ResourceRow>(text, tree, place.id, after, limit);
        return rows.map((row) => entryOf(collection.path, place.arrival, row));
      }),

    list: (tree, path, after, limit) =>
      database.snapshot(async (sql) => {
        const place = await new Places(sql, tree).at(path);
        if (place === undefined) return undefined;
        const text = `SELECT ${LISTED} ${MEMBERS}`;
        const rows = await sql.all<ListedRow>(text, tree, place.id, after, limit);
        const { version } = await headOf(sql, tree);
        return { version, members: rows.map((row) => listedOf(path, place.arrival, row)) };
      }),

    below: (tree, path, limit) =>
      database.snapshot(async (sql) => {
        const place = await new Places(sql, tree).at(path);
        if (place === undefined) return [];
        const { id, arrival } = place;
        const from = [id, path, arrival.edit, arrival.at];
        const rows = await sql.last.all<BelowRow>(BELOW, tree, ...from, limit);
        return rows.map(([parent, edit, at, ...row]) => entryOf(parent, { edit, at }, row));
      }),

    commit: async (tree, wanted) => {
      checkEdits(wanted.edits, longestContent);
      const edits = wanted.edits.map((one) =>
        one.kind === 'lock'
          ? { ...one, lock: { ...one.lock, expires: toShared(one.lock.expires) } }
          : one,
      );
      const change = { ...wanted, edits };
      const makesRoom = change.edits.every(({ kind }) => kind === 'remove' || kind === 'unlock');
      const attempt = async (made?: ReservedCopy): Promise<CommitOutcome> => {
        const outcome = await database
          .write((sql) => commit(sql, tree, change, { version: randomId(random), made }), {
            makesRoom,
            turn: tree,
          })
          .catch(outcomeOf);
        if (outcome.kind === 'done') return outcome;
        if (made) await endIn(tree, made);
        if (outcome.kind === 'impossible') throw outcome.error;
        if (outcome.kind !== 'to copy') return outcome;
        const reserved = { token: randomId(random), quota: change.quota, now: now() };
        const begun = await database.write((sql) => reserve(sql, tree, outcome, reserved), {
          turn: tree,
        });
        return attempt(begun && (await copyInSlices(tree, begun)));
      };
      return attempt();
    },

    clear: async () => {
      const toClear = async (sql: Sql) =>
        (await treeWithLeftCopy(sql, now())) ?? treeWithDetached(sql);
      const work = async (sql: Transaction) => {
        const tree = await toClear(sql);
        if (tree === undefined) return undefined;
        await lockHead(sql, tree);
        await endLeftCopies(sql, tree, { now: now(), version: randomId(random) });
        const dropped = new Set(await removeSlice(sql, tree, await detachedIn(sql, tree)));
        return { tree, released: await released(sql, tree, dropped) };
      };
      const isLeft = (await database.read(toClear)) !== undefined;
      return isLeft ? database.write(work, { makesRoom: true }) : undefined;
    },

    content: (tree, name) =>
      database.read(async (sql) => {
        const text = 'SELECT bytes FROM content WHERE tree = ? AND file = ?';
        const [row] = await sql.all<[bytes: NodeJS.NonSharedUint8Array]>(text, tree, name);
        if (row === undefined) return undefined;
        const [{ buffer, byteOffset, length }] = row;
        return Buffer.from(buffer, byteOffset, length);
      }),

    files: (tree) =>
      database.read(async (sql) => {
        const text = `SELECT DISTINCT file FROM resource WHERE tree = ?1 AND file IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM content WHERE tree = ?1 AND file = resource.file)`;
        const rows = await sql.all<[file: string]>(text, tree);
        return new Set(rows.flat());
      }),
  };
}
