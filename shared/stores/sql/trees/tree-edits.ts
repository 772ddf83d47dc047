import type { ByKind } from '../../trees/edits.ts';
import { bytesOf } from '../../trees/entry-bytes.ts';
import { type Edit, ImpossibleEdit, type Quota } from '../../trees/trees.ts';
import type { Transaction } from '../sql.ts';
import { copyAtOnce, type Copying, isOf, sumsBelow } from './copying.ts';
import { detach, SLICE } from './detached.ts';
import { AT_ONCE, type Found, type Place, type Places, type Spot } from './places.ts';
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

/** The edits of one commit, and their effects. */
export interface Editing {
  readonly sql: Transaction;
  readonly tree: string;
  readonly places: Places;
  /** The number of this edit in the tree. */
  edit: number;
  /** The last edit of resources. A large copy is made before it, in separate transactions. */
  readonly last: Edit | undefined;
  /** The large copy, if it was made. */
  readonly made: Copying | undefined;
  /** The source of a large copy that is not made yet. Its sums are counted. */
  unmade: Found | undefined;
  /** The sums that the edits have added. */
  sums: Quota;
  /** Whether an edit has made a path longer than its limit. */
  tooLong: boolean;
  /** Roots of the locks that the edits have changed. */
  readonly relocked: Set<string>;
  /** Names of content that a resource no longer has; others still may. */
  readonly dropped: Set<string>;
  /** Rows of the removed collections. */
  readonly detached: number[];
}

export const EDITS: ByKind<Editing, Promise<void>> = {
  put: async ({ entry, content }, editing) => {
    const { sql, tree, places, dropped } = editing;
    const before = await places.find(entry.path);
    places.put(entry.path);
    const own = ownSums({ entry, bytes: bytesOf(entry) });
    if (before === undefined) {
      const [above, name] = await placeFor(editing, entry.path);
      const values = [tree, above.id, name, ...stateOf(entry, editing.edit)];
      if (entry.kind === 'document') await sql.later(INSERT, ...values);
      else {
        const [[id] = [0]] = await sql.all<[id: number]>(`${INSERT} RETURNING id`, ...values);
        await sql.later('INSERT INTO collection (id) VALUES (?)', id);
      }
      await count(editing, above, name, own);
    } else if (before.entry.kind === entry.kind) {
      await sql.later(UPDATE, ...stateOf(entry, editing.edit), before.row);
      await count(editing, before.place.above ?? before.place, '', minus(own, ownSums(before)));
      if (before.entry.kind === 'document') dropped.add(before.entry.file);
    } else {
      throw new ImpossibleEdit(`there is a ${before.entry.kind} at ${entry.path}`);
    }
    if (content !== undefined && entry.kind === 'document') {
      await sql.later(CONTENT, tree, entry.file, content);
    }
  },

  remove: async ({ path }, editing) => {
    const { sql, places, dropped } = editing;
    const found = await places.find(path);
    if (found === undefined) return;
    await leave(editing, found, await sumsOf(sql, found));
    if (found.entry.kind === 'document') {
      // A running copy has the document or not.
      await sql.later('DELETE FROM resource WHERE id = ?', found.row);
      dropped.add(found.entry.file);
    } else {
      await breakCopies(sql, found.place);
      await detach(sql, found.row);
      editing.detached.push(found.row);
    }
  },

  move: async ({ from, to, at, longest }, editing) => {
    const found = await editing.places.find(from);
    if (found === undefined) return;
    const [above, name] = await freePlace(editing, to);
    const sums = await measured(editing, found, to, longest);
    await breakCopies(editing.sql, found.place);
    await leave(editing, found, sums);
    await arrive(editing, found.row, { above, name, at, sums });
    editing.tooLong ||= lengthOf(to, sums) > longest;
  },

  copy: async (edit, editing) => {
    const { from, to, deep, at, longest } = edit;
    const { sql, tree, places, made } = editing;
    const found = await places.find(from);
    if (found === undefined) return;
    const [above, name] = await freePlace(editing, to);
    const own: Sums = { ...ownSums(found), entries: 1 };
    const isLarge = edit === editing.last && deep && (await sumsOf(sql, found)).entries > SLICE;
    let sums: Sums;
    if (isLarge && made === undefined) {
      editing.unmade = found;
      sums = await measured(editing, found, to, longest);
      await count(editing, above, name, sums);
    } else {
      const copied =
        isLarge && made && isOf(made, found)
          ? { id: made.id, sums: sumsBelow(made) }
          : await copyAtOnce(sql, tree, found, { parent: above.id, name, at, deep });
      sums = plus(own, copied.sums);
      await arrive(editing, copied.id, { above, name, at, sums });
    }
    editing.tooLong ||= lengthOf(to, sums) > longest;
  },

  lock: async ({ lock }, { sql, tree, relocked }) => {
    const text = `INSERT INTO tree_lock (tree, token, record) VALUES (?, ?, ?)
      ON CONFLICT (tree, token) DO UPDATE SET record = excluded.record`;
    await sql.later(text, tree, lock.token, JSON.stringify(lock));
    relocked.add(lock.root);
  },

  unlock: async ({ locks }, { sql, tree, relocked }) => {
    for (let n = 0; n < locks.length; n += AT_ONCE) {
      const some = locks.slice(n, n + AT_ONCE);
      const removed = await sql.all<[token: string]>(
        'DELETE FROM tree_lock WHERE tree = ? AND token IN EACH(?) RETURNING token',
        tree,
        JSON.stringify(some.map(({ token }) => token)),
      );
      const gone = new Set(removed.flat());
      for (const { token, root } of some) if (gone.has(token)) relocked.add(root);
    }
  },
};

const CONTENT =
  'INSERT INTO content (tree, file, bytes) VALUES (?, ?, ?) ON CONFLICT (tree, file) DO NOTHING';

interface Arriving {
  readonly above: Place;
  readonly name: string;
  readonly at: number;
  readonly sums: Sums;
}

/** Moves a row, with all rows below, to its new place. */
async function arrive(
  editing: Editing,
  row: number,
  { above, name, at, sums }: Arriving,
): Promise<void> {
  const text = `UPDATE resource
    SET parent = ?1, name = ?2, modified = ?3, arrived_at = ?3, changed = ?4, arrived = ?4
    WHERE id = ?5`;
  await editing.sql.later(text, above.id, name, at, editing.edit, row);
  editing.places.forget();
  await count(editing, above, name, sums);
}

/** Adds sums to a collection. `name`: of the added resource. */
async function count(editing: Editing, above: Spot, name: string, sums: Sums): Promise<void> {
  editing.sums = plus(editing.sums, sums);
  await addSums(editing.sql, above, Buffer.byteLength(name), sums);
}

/** Subtracts a resource from its collection. */
async function leave(editing: Editing, { place }: Found, sums: Sums): Promise<void> {
  editing.places.forget();
  await count(editing, place.above ?? place, '', minus(NOTHING, sums));
}

/** Returns the sums of a resource. Measures its longest path if `to` could become too long. */
async function measured(
  { sql, tree }: Editing,
  found: Found,
  to: string,
  longest: number,
): Promise<Sums> {
  const sums = await sumsOf(sql, found);
  if (sums.longest === 0 || lengthOf(to, sums) <= longest) return sums;
  return { ...sums, longest: await measureLongest(sql, tree, found.place) };
}

/** Bytes of the longest path at and below this one. */
function lengthOf(path: string, { longest }: Sums): number {
  return Buffer.byteLength(path) + (longest > 0 ? 1 + longest : 0);
}

/** Returns the collection and the name of a path at which there is nothing. */
async function freePlace(editing: Editing, path: string): Promise<[above: Place, name: string]> {
  if ((await editing.places.find(path)) !== undefined) {
    throw new ImpossibleEdit(`there is something at ${path}`);
  }
  return placeFor(editing, path);
}

/** Returns the collection and the name of a path at which something may be added. */
async function placeFor({ places }: Editing, path: string): Promise<[above: Place, name: string]> {
  const [parent, name] = split(path);
  const above = await places.at(parent);
  if (above === undefined) throw new ImpossibleEdit(`there is no collection at ${parent}`);
  return [above, name];
}
