import type { Sql } from '../sql.ts';
import { SLICE } from './detached.ts';
import type { Found } from './places.ts';
import { AMONG, DIGITS, digitsOf, IN, KEPT_BY_COPIES } from './resource-rows.ts';
import { NOTHING, plus, type Sums } from './sums.ts';

/** A collection that is copied, with the sums of the members copied so far. */
interface Copied extends Sums {
  readonly source: number;
  readonly id: number;
  readonly size: number;
  /** The index of its parent in `collections`. */
  readonly above: number;
  /** The name of the last member that was copied. */
  readonly after: string;
}

/** The progress of a copy. Each slice makes a new object. */
export interface Copying {
  readonly tree: string;
  /** The row of the copy. */
  readonly id: number;
  readonly revision: string;
  readonly at: number;
  /** Each collection before its inner collections; the root of the copy is the first. */
  readonly collections: readonly Copied[];
  /** How many of the collections have all their members. */
  readonly whole: number;
  /** How many of the collections have sums that are not written yet. */
  readonly unwritten: number;
}

/** `id`: the row of the copy. */
export const beginCopying = (tree: string, source: Found, id: number, at: number): Copying => ({
  tree,
  id,
  revision: source.entry.revision,
  at,
  collections: [copied(source.row, id, 0, -1)],
  whole: 0,
  unwritten: Infinity,
});

/** Whether nothing is left to do. */
export const isDone = ({ unwritten }: Copying): boolean => unwritten === 0;

export const isOf = ({ collections: [root], revision }: Copying, { row, entry }: Found): boolean =>
  row === root?.source && entry.revision === revision;

/** The sums of the whole finished copy. */
export const sumsBelow = ({ collections: [root] }: Copying): Sums => root ?? NOTHING;

/** Copies up to `SLICE` rows, then writes as many sums. */
export async function copySlice(sql: Sql, copying: Copying): Promise<Copying> {
  let { whole, unwritten } = copying;
  let collections = [...copying.collections];
  let room = SLICE;
  for (let next; room > 0 && (next = collections[whole]) !== undefined;) {
    const { to, within, rows } = await copyMembers(sql, copying, next, whole, room);
    collections[whole] = to;
    collections.push(...within);
    if (rows < room) whole += 1;
    room -= rows + 1;
  }
  if (room > 0 && whole === collections.length) {
    if (unwritten > whole) [collections, unwritten] = [addUp(collections), whole];
    const first = Math.max(0, unwritten - room);
    await writeSums(sql, collections.slice(first, unwritten));
    unwritten = first;
  }
  return { ...copying, collections, whole, unwritten };
}

type Member = readonly [id: number, name: string, bytes: number, length: number | null];
const MEMBERS = `SELECT id, name, bytes, length FROM resource
  WHERE ${IN} AND name > ? ORDER BY name LIMIT ?`;
const COPY = `INSERT INTO resource (tree, parent, name, created, modified, ${KEPT_BY_COPIES})
  SELECT tree, CAST(? AS BIGINT), name, CAST(? AS BIGINT), CAST(? AS BIGINT), ${KEPT_BY_COPIES}
  FROM resource WHERE id IN ${AMONG} RETURNING name, id`;

/** Copies the next members of a collection, as many as fit into the slice. */
async function copyMembers(
  sql: Sql,
  { tree, at }: Copying,
  to: Copied,
  place: number,
  most: number,
): Promise<{ readonly to: Copied; readonly within: readonly Copied[]; readonly rows: number }> {
  const members = await sql.all<Member>(MEMBERS, tree, to.source, to.after, most);
  const among = JSON.stringify(members.map(([id]) => id));
  const ids = new Map(await sql.all<[name: string, id: number]>(COPY, to.id, at, at, among));
  const within: Copied[] = [];
  let { after, bytes, properties, entries, longest } = to;
  for (const [source, name, own, length] of members) {
    const size = Buffer.byteLength(name);
    after = name;
    bytes += own;
    properties += own - (length ?? 0);
    entries += 1;
    longest = Math.max(longest, size);
    const id = ids.get(name);
    if (length === null && id !== undefined) within.push(copied(source, id, size, place));
  }
  return {
    to: { ...to, after, bytes, properties, entries, longest },
    within,
    rows: members.length,
  };
}

/** Adds the sums of each collection to those of its parent. */
function addUp(collections: readonly Copied[]): Copied[] {
  const all = [...collections];
  for (const [n] of [...all.entries()].toReversed()) {
    const [one, to] = [all[n], all[all[n]?.above ?? -1]];
    if (one === undefined || to === undefined) continue;
    all[one.above] = {
      ...plus(one, to),
      longest: Math.max(to.longest, one.size + (one.longest > 0 ? 1 + one.longest : 0)),
    };
  }
  return all;
}

/** Writes the sums of some collections in one statement: each is a text of numbers of `DIGITS` digits. */
async function writeSums(sql: Sql, collections: readonly Copied[]): Promise<void> {
  const numbers = [0, 1, 2, 3, 4].map(
    (n) => `CAST(substr(value, ${1 + n * DIGITS}, ${DIGITS}) AS BIGINT)`,
  );
  await sql.run(
    `INSERT INTO collection (id, bytes, properties, entries, longest)
     SELECT ${numbers.join(', ')} FROM EACH(?) AS written`,
    JSON.stringify(
      collections.map(({ id, bytes, properties, entries, longest }) =>
        [id, bytes, properties, entries, longest].map(digitsOf).join(''),
      ),
    ),
  );
}

const copied = (source: number, id: number, size: number, above: number): Copied => ({
  source,
  id,
  size,
  above,
  after: '',
  ...NOTHING,
});

/** Where a copy is put, and when. */
export interface Destination {
  readonly parent: number;
  readonly name: string;
  readonly at: number;
}

/** Adds a copy of one row, without what is below it, and resolves to the row of the copy. */
export async function copyRow(
  sql: Sql,
  { row }: Found,
  { parent, name, at }: Destination,
): Promise<number> {
  const text = `INSERT INTO resource (tree, parent, name, created, modified, ${KEPT_BY_COPIES})
    SELECT tree, CAST(?2 AS BIGINT), CAST(?3 AS TEXT), CAST(?4 AS BIGINT), CAST(?4 AS BIGINT),
      ${KEPT_BY_COPIES}
    FROM resource WHERE id = ?1 RETURNING id`;
  const [[id] = [0]] = await sql.all<[id: number]>(text, row, parent, name, at);
  return id;
}

/** Copies a resource in this transaction, if `deep` with all its members. Resolves to its row and its sums. */
export async function copyAtOnce(
  sql: Sql,
  tree: string,
  source: Found,
  to: Destination & { readonly deep: boolean },
): Promise<{ readonly id: number; readonly sums: Sums }> {
  const id = await copyRow(sql, source, to);
  if (source.entry.kind === 'document') return { id, sums: NOTHING };
  if (!to.deep) {
    await sql.run('INSERT INTO collection (id) VALUES (?)', id);
    return { id, sums: NOTHING };
  }
  let copying = beginCopying(tree, source, id, to.at);
  while (!isDone(copying)) copying = await copySlice(sql, copying);
  return { id, sums: sumsBelow(copying) };
}
