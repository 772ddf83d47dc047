import type { Statements } from '../file/connection.ts';
import { SLICE } from './detached.ts';
import type { Found } from './places.ts';
import { IN, KEPT_BY_COPIES } from './resource-rows.ts';
import { NOTHING, type Sums } from './sums.ts';

/** A collection that is copied, and what is below the copy so far. */
interface Copied {
  readonly source: number;
  readonly id: number;
  readonly size: number;
  readonly above?: Copied;
  /** The name of the last member that was copied. */
  after: string;
  bytes: number;
  properties: number;
  entries: number;
  longest: number;
}

/** Copies what is below a collection to below another one, in slices. */
export class Copying {
  readonly #tree: string;
  readonly #revision: string;
  readonly #at: number;
  readonly #root: Copied;
  /** Each before those within it. */
  readonly #collections: Copied[];
  /** How many of them have all their members. */
  #whole = 0;
  /** How many are left whose sums are not written; undefined: they are not known yet. */
  #unwritten: number | undefined;

  /** `id`: the row of the copy. */
  constructor(tree: string, source: Found, id: number, at: number) {
    this.#tree = tree;
    this.#revision = source.entry.revision;
    this.#at = at;
    this.#root = copied(source.row, id, 0);
    this.#collections = [this.#root];
  }

  get id(): number {
    return this.#root.id;
  }

  /** The sums of all below the copy. */
  get sums(): Sums {
    return this.#root;
  }

  isOf({ row, entry }: Found): boolean {
    return row === this.#root.source && entry.revision === this.#revision;
  }

  /** Copies up to `SLICE` rows; true: nothing is left to do. */
  slice(connection: Statements): boolean {
    let room = SLICE;
    for (let next; room > 0 && (next = this.#collections[this.#whole]) !== undefined;) {
      const rows = this.#copyMembers(connection, next, room);
      if (rows < room) this.#whole += 1;
      room -= rows + 1;
    }
    if (room <= 0 || this.#whole < this.#collections.length) return false;
    this.#unwritten ??= this.#addUp();
    this.#writeSums(connection, room);
    return this.#unwritten === 0;
  }

  /** Copies the next members of a collection, and returns how many there were. */
  #copyMembers(connection: Statements, to: Copied, most: number): number {
    const members = connection.all<
      [id: number, name: string, bytes: number, length: number | null]
    >(
      `SELECT id, name, bytes, length FROM resource WHERE ${IN} AND name > ? ORDER BY name LIMIT ?`,
      this.#tree,
      to.source,
      to.after,
      most,
    );
    const ids = new Map(
      connection.all<[name: string, id: number]>(
        `INSERT INTO resource (tree, parent, name, created, modified, ${KEPT_BY_COPIES})
         SELECT tree, ?1, name, ?2, ?2, ${KEPT_BY_COPIES}
         FROM resource WHERE id IN (SELECT value FROM json_each(?3))
         RETURNING name, id`,
        to.id,
        this.#at,
        JSON.stringify(members.map(([id]) => id)),
      ),
    );
    for (const [source, name, bytes, length] of members) {
      const size = Buffer.byteLength(name);
      to.bytes += bytes;
      to.properties += bytes - (length ?? 0);
      to.entries += 1;
      to.longest = Math.max(to.longest, size);
      to.after = name;
      const id = ids.get(name);
      if (length === null && id !== undefined) {
        this.#collections.push(copied(source, id, size, to));
      }
    }
    return members.length;
  }

  /** Adds what is below each collection to the one that it is in. */
  #addUp(): number {
    for (const {
      size,
      above,
      bytes,
      properties,
      entries,
      longest,
    } of this.#collections.toReversed()) {
      if (above === undefined) continue;
      above.bytes += bytes;
      above.properties += properties;
      above.entries += entries;
      above.longest = Math.max(above.longest, size + (longest > 0 ? 1 + longest : 0));
    }
    return this.#collections.length;
  }

  /** Writes up to `most` of them. */
  #writeSums(connection: Statements, most: number): void {
    const end = this.#unwritten ?? 0;
    const first = Math.max(0, end - most);
    const rows = this.#collections
      .slice(first, end)
      .map(({ id, bytes, properties, entries, longest }) => [
        id,
        bytes,
        properties,
        entries,
        longest,
      ]);
    connection.run(
      `INSERT INTO collection (id, bytes, properties, entries, longest)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?)`,
      JSON.stringify(rows),
    );
    this.#unwritten = first;
  }
}

const copied = (source: number, id: number, size: number, above?: Copied): Copied => ({
  source,
  id,
  size,
  ...(above && { above }),
  after: '',
  bytes: 0,
  properties: 0,
  entries: 0,
  longest: 0,
});

/** Where a copy is put, and when. */
export interface Destination {
  readonly parent: number;
  readonly name: string;
  readonly at: number;
}

/** Adds a copy of one row, without what is below it, and returns the row of the copy. */
export function copyRow(
  connection: Statements,
  { row }: Found,
  { parent, name, at }: Destination,
): number {
  const [[id] = [0]] = connection.all<[id: number]>(
    `INSERT INTO resource (tree, parent, name, created, modified, ${KEPT_BY_COPIES})
     SELECT tree, ?2, ?3, ?4, ?4, ${KEPT_BY_COPIES} FROM resource WHERE id = ?1
     RETURNING id`,
    row,
    parent,
    name,
    at,
  );
  return id;
}

/** Copies a resource in this transaction, if `deep` with all below it. Returns its row, and what is below it. */
export function copyAtOnce(
  connection: Statements,
  tree: string,
  source: Found,
  to: Destination & { readonly deep: boolean },
): { readonly id: number; readonly sums: Sums } {
  const id = copyRow(connection, source, to);
  if (source.entry.kind === 'document') return { id, sums: NOTHING };
  if (!to.deep) {
    connection.run('INSERT INTO collection (id) VALUES (?)', id);
    return { id, sums: NOTHING };
  }
  const copying = new Copying(tree, source, id, to.at);
  while (!copying.slice(connection));
  return copying;
}
