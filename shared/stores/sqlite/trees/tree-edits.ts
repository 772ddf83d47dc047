import type { ByKind } from '../../trees/edits.ts';
import { bytesOf } from '../../trees/entry-bytes.ts';
import { type Edit, ImpossibleEdit } from '../../trees/trees.ts';
import type { Statements } from '../file/connection.ts';
import { copyAtOnce, type Copying } from './copying.ts';
import { detach, SLICE } from './detached.ts';
import type { Found, Place, Places, Spot } from './places.ts';
import { breakCopies } from './reservations.ts';
import { INSERT, split, stateOf, UPDATE } from './resource-rows.ts';
import {
  addSums,
  measureLongest,
  minus,
  NOTHING,
  ownSums,
  plus,
  type Sums,
  sumsOf,
} from './sums.ts';

/** The edits of one commit, in its transaction, and what they have come to. */
export interface Editing {
  readonly connection: Statements;
  readonly tree: string;
  readonly places: Places;
  /** How many edits of the tree there have been, with this one. */
  edit: number;
  /** The last one that is about resources: a large copy is made before it, in transactions of its own. */
  readonly last: Edit | undefined;
  /** That copy, if it was made. */
  readonly made: Copying | undefined;
  /** Its source, if it is still to be made: it counts, and is not there. */
  unmade: Found | undefined;
  /** The bytes that the edits have added. */
  bytes: number;
  properties: number;
  entries: number;
  /** Whether one has made a path that is longer than it allows. */
  tooLong: boolean;
  /** Roots of the locks that they have changed. */
  readonly relocked: Set<string>;
  /** Names of content that a resource no longer has; others still may. */
  readonly dropped: Set<string>;
  /** Rows of the collections that they have removed. */
  readonly detached: number[];
}

export const EDITS: ByKind<Editing, void> = {
  put: ({ entry, content }, editing) => {
    const { connection, tree, places, dropped } = editing;
    const before = places.find(entry.path);
    const own = ownSums({ entry, bytes: bytesOf(entry) });
    if (before === undefined) {
      const [above, name] = placeFor(editing, entry.path);
      connection.run(INSERT, tree, above.id, name, ...stateOf(entry, editing.edit));
      if (entry.kind === 'collection') {
        connection.run('INSERT INTO collection (id) VALUES (last_insert_rowid())');
      }
      count(editing, above, name, own);
    } else if (before.entry.kind === entry.kind) {
      connection.run(UPDATE, ...stateOf(entry, editing.edit), before.row);
      count(editing, before.place.above ?? before.place, '', minus(own, ownSums(before)));
      if (before.entry.kind === 'document') dropped.add(before.entry.file);
    } else {
      throw new ImpossibleEdit(`there is a ${before.entry.kind} at ${entry.path}`);
    }
    if (content !== undefined && entry.kind === 'document') {
      connection.run(
        'INSERT OR IGNORE INTO content (tree, file, bytes) VALUES (?, ?, ?)',
        tree,
        entry.file,
        content,
      );
    }
  },

  remove: ({ path }, editing) => {
    const { connection, places, dropped } = editing;
    const found = places.find(path);
    if (found === undefined) return;
    leave(editing, found, sumsOf(connection, found));
    if (found.entry.kind === 'document') {
      // A copy has it or not.
      connection.run('DELETE FROM resource WHERE id = ?', found.row);
      dropped.add(found.entry.file);
    } else {
      breakCopies(connection, found.place);
      detach(connection, found.row);
      editing.detached.push(found.row);
    }
  },

  move: ({ from, to, at, longest }, editing) => {
    const { places } = editing;
    const found = places.find(from);
    if (found === undefined) return;
    const [above, name] = freePlace(editing, to);
    const sums = measured(editing, found, to, longest);
    breakCopies(editing.connection, found.place);
    leave(editing, found, sums);
    arrive(editing, found.row, above, name, at);
    count(editing, above, name, sums);
    editing.tooLong ||= lengthOf(to, sums) > longest;
  },

  copy: (edit, editing) => {
    const { from, to, deep, at, longest } = edit;
    const { connection, tree, places, made } = editing;
    const found = places.find(from);
    if (found === undefined) return;
    const [above, name] = freePlace(editing, to);
    const own: Sums = { ...ownSums(found), entries: 1 };
    const isLarge = edit === editing.last && deep && sumsOf(connection, found).entries > SLICE;
    let sums: Sums;
    if (isLarge && made === undefined) {
      editing.unmade = found;
      sums = measured(editing, found, to, longest);
    } else if (isLarge && made?.isOf(found)) {
      arrive(editing, made.id, above, name, at);
      sums = plus(own, made.sums);
    } else {
      const parent = above.id;
      const copied = copyAtOnce(connection, tree, found, { parent, name, at, deep });
      arrive(editing, copied.id, above, name, at);
      sums = plus(own, copied.sums);
    }
    count(editing, above, name, sums);
    editing.tooLong ||= lengthOf(to, sums) > longest;
  },

  lock: ({ lock }, editing) => {
    editing.connection.run(
      'INSERT OR REPLACE INTO tree_lock (tree, token, record) VALUES (?, ?, ?)',
      editing.tree,
      lock.token,
      JSON.stringify(lock),
    );
    editing.relocked.add(lock.root);
  },

  unlock: ({ locks }, { connection, tree, relocked }) => {
    const removed = connection.all<[token: string]>(
      `DELETE FROM tree_lock WHERE tree = ? AND token IN (SELECT value FROM json_each(?))
       RETURNING token`,
      tree,
      JSON.stringify(locks.map(({ token }) => token)),
    );
    const gone = new Set(removed.flat());
    for (const { token, root } of locks) if (gone.has(token)) relocked.add(root);
  },
};

/** Puts a row where it arrives, with all below it. */
function arrive(
  { connection, edit }: Editing,
  row: number,
  above: Spot,
  name: string,
  at: number,
): void {
  connection.run(
    `UPDATE resource
     SET parent = ?1, name = ?2, modified = ?3, arrived_at = ?3, changed = ?4, arrived = ?4
     WHERE id = ?5`,
    above.id,
    name,
    at,
    edit,
    row,
  );
}

/** Counts what has come to a collection, under this name. */
function count(editing: Editing, above: Spot, name: string, sums: Sums): void {
  editing.bytes += sums.bytes;
  editing.properties += sums.properties;
  editing.entries += sums.entries;
  addSums(editing.connection, above, Buffer.byteLength(name), sums);
}

/** A resource leaves its place. */
function leave(editing: Editing, { place }: Found, sums: Sums): void {
  count(editing, place.above ?? place, '', minus(NOTHING, sums));
  editing.places.forget();
}

/** Returns the sums of a resource for `to`; where a path may be too long by them, the longest is measured. */
function measured({ connection, tree }: Editing, found: Found, to: string, longest: number): Sums {
  const sums = sumsOf(connection, found);
  if (sums.longest === 0 || lengthOf(to, sums) <= longest) return sums;
  return { ...sums, longest: measureLongest(connection, tree, found.place) };
}

/** Bytes of the longest path at and below this one. */
function lengthOf(path: string, { longest }: Sums): number {
  return Buffer.byteLength(path) + (longest > 0 ? 1 + longest : 0);
}

/** Returns the collection and the name of a path at which there is nothing. */
function freePlace(editing: Editing, path: string): [above: Place, name: string] {
  if (editing.places.find(path) !== undefined) {
    throw new ImpossibleEdit(`there is something at ${path}`);
  }
  return placeFor(editing, path);
}

/** Returns the collection and the name of a path at which something may be added. */
function placeFor({ places }: Editing, path: string): [above: Place, name: string] {
  const [parent, name] = split(path);
  const above = parent === '' || places.find(parent)?.entry.kind === 'collection';
  const place = above ? places.at(parent) : undefined;
  if (place === undefined) throw new ImpossibleEdit(`there is no collection at ${parent}`);
  return [place, name];
}
