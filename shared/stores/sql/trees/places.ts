import { allOf, andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Collection, Entry } from '../../trees/trees.ts';
import type { Row, Sql } from '../sql.ts';
import {
  type Arrival,
  COLUMNS,
  collectionId,
  DIGITS,
  digitsOf,
  entryOf,
  join,
  type ResourceRow,
  rowIn,
  split,
  treeOf,
} from './resource-rows.ts';

/** The `parent` of rows that no path leads to: rows that will be removed, and an unfinished copy. */
export const DETACHED = -1;
export const BUILDING = -2;

/** Names of a path that one statement follows: SQLite joins 64 tables at most. */
export const STEPS = 32;

/** The position of a resource in a tree; the root has no parent. */
export interface Spot {
  /** Its row, the `parent` of its members; 0 for the root, which may have none. */
  readonly id: number;
  /** Bytes of its name. */
  readonly size: number;
  readonly above?: Place;
}

/** A collection, with the last arrival of it or of its ancestors. */
export interface Place extends Spot {
  readonly arrival: Arrival;
}

const ROOT: Place = { id: 0, size: 0, arrival: { edit: 0, at: 0 } };

/** A resource, its position, and the octets that it adds to its tree. */
export interface Found {
  readonly place: Spot;
  readonly row: number;
  readonly entry: Entry;
  readonly bytes: number;
}

/** The resource that a name of a path leads to; null: there is none. */
type Step = readonly [arrived: number, arrivedAt: number, id: number | null, kind: Entry['kind']];
const ARRIVAL = ['arrived', 'arrived_at'];
const STEP = [...ARRIVAL, 'id', 'kind'];

/** The names that one statement follows from the collection at the path `at`. */
interface Walk {
  readonly names: readonly string[];
  readonly from: Place;
  readonly at: string;
}

/** All columns of a resource. */
const LOCATED = [...ARRIVAL, ...COLUMNS.split(', ')];
type Located = readonly [arrived: number, arrivedAt: number, ...ResourceRow];

/** In SQL, for each number of names: the `Step`s from the collection `?2` of the tree `?1`, the last ones `Located`. */
const walks = (located: number) =>
  Array.from({ length: STEPS }, (__, more) => {
    const steps = Array.from({ length: more + 1 }, (_, n) => `step${n}`);
    const columns = steps.flatMap((step, n) => {
      return (n <= more - located ? STEP : LOCATED).map((column) => `${step}.${column}`);
    });
    const joins = steps.slice(1).map(
      (step, n) =>
        `LEFT JOIN resource AS ${step}
         ON ${step}.tree = ${treeOf(`step${n}`)} AND ${step}.parent = step${n}.id AND ${step}.name = ?${n + 4}`,
    );
    return `SELECT ${columns.join(', ')} FROM resource AS step0 ${joins.join(' ')}
    WHERE step0.tree = ?1 AND step0.parent = CAST(?2 AS BIGINT) AND step0.name = ?3`;
  });
const WALKS = walks(1);
/** Most callers that look for a resource also look for its collection. */
const WALKS_OF_TWO = walks(2);

/** Resources or locks that one statement looks for: PostgreSQL may go through all of them for each row. */
export const AT_ONCE = 1_000;

/** In SQL: resources of the tree `?1`, each wanted by the number of the collection that it is in, and its name. */
const MEMBERS = `SELECT wanted.value, ${LOCATED.map((column) => `member.${column}`).join(', ')}
  FROM EACH(?2) AS wanted CROSS JOIN resource AS member ON
    member.tree = substr(wanted.value, 1, 0) || CAST(?1 AS TEXT)
    AND member.parent = CAST(substr(wanted.value, 1, ${DIGITS}) AS BIGINT)
    AND member.name = substr(wanted.value, ${DIGITS + 1})`;
type MemberRow = readonly [wanted: string, ...Located];

/** In SQL: a resource and the collections that it is in, but the root. */
const UPWARDS = `WITH RECURSIVE up (id, parent, created, edit, at) AS (
    SELECT id, parent, created, arrived, arrived_at FROM resource WHERE id = ?
    UNION ALL
    SELECT resource.id, resource.parent, resource.created, arrived, arrived_at
    FROM up CROSS JOIN resource ON resource.id = up.parent
  )
  SELECT id, parent, created, edit, at FROM up`;

/** Reads the entry at a path of up to `STEPS` names. `Places` takes a quarter longer, and this is read most often of all. */
export function entryAt(sql: Sql, tree: string, path: string): Awaitable<Entry | undefined> {
  const names = path.split('/');
  const last = names.length - 1;
  return andThen(sql.all(WALKS[last] ?? '', tree, ROOT.id, ...names), ([row]) => {
    if (row === undefined || stepIn(row, last)[2] === null) return undefined;
    let { arrival } = ROOT;
    for (let n = 0; n < last; n += 1) {
      const [edit, at] = stepIn(row, n);
      arrival = later({ edit, at }, arrival);
    }
    return entryOf(split(path)[0], arrival, resourceIn(row, last));
  });
}

/** The places of one tree at one moment. Each is read once, and again after an edit that may have changed it. */
export class Places {
  readonly #sql: Sql;
  readonly #tree: string;
  readonly #collections = new Map([['', ROOT]]);
  readonly #found = new Map<string, Found | undefined>();

  constructor(sql: Sql, tree: string) {
    this.#sql = sql;
    this.#tree = tree;
  }

  /** The place of the collection at a path; undefined if there is none. */
  async at(path: string): Promise<Place | undefined> {
    if (!this.#collections.has(path)) await this.find(path);
    return this.#collections.get(path);
  }

  /** The place of the collection with an id, at any path; without an id, of the collection at the path. */
  async of({
    path,
    id,
  }: Pick<Collection, 'path' | 'id'>): Promise<Pick<Place, 'id' | 'arrival'> | undefined> {
    if (path === '' || id === undefined) return this.at(path);
    const row = rowIn(id);
    const up = await this.#sql.all<
      [id: number, parent: number, created: number, edit: number, at: number]
    >(UPWARDS, row);
    const isIt = up.some(([of, , created]) => of === row && id === collectionId(row, created));
    // Otherwise the collection or an ancestor is going to be removed.
    const isThere = up.some(([, parent]) => parent === ROOT.id);
    if (!isIt || !isThere) return undefined;
    return { id: row, arrival: up.map(([, , , edit, at]) => ({ edit, at })).reduce(later) };
  }

  /** Finds a path of up to `STEPS` names with one query. */
  find(path: string): Awaitable<Found | undefined> {
    if (this.#found.has(path)) return this.#found.get(path);
    return andThen(this.#walk(path), (found) => {
      this.#found.set(path, found);
      return found;
    });
  }

  /** Finds each of these paths, with as few queries as possible. */
  findAll(paths: ReadonlySet<string>): Awaitable<unknown> {
    const [path] = paths;
    if (paths.size === 1 && path !== undefined) return this.find(path);
    return andThen(this.findMany(paths), () => this.findEach(paths));
  }

  /** Finds many paths: one query for all paths with the same number of names. `find` then needs one query or none. */
  findMany(paths: ReadonlySet<string>): Awaitable<void> {
    if (paths.size > 2) {
      const levels: (Set<string> | undefined)[] = [];
      for (const path of paths) {
        for (let at = path; at !== '' && !this.#found.has(at); [at] = split(at)) {
          (levels[at.split('/').length] ??= new Set()).add(at);
        }
      }
      // In SQLite one of these queries takes as long as two of `find`.
      if (paths.size > 2 * levels.length) return this.#findLevels(levels);
    }
    const long = [...paths].filter((path) => path.split('/').length > STEPS);
    return long.length > 0 ? this.#findLong(long) : undefined;
  }

  /** Finds each path. Call `findMany` before. */
  findEach(paths: ReadonlySet<string>): Awaitable<ReadonlyMap<string, Found | undefined>> {
    const all = [...paths];
    return andThen(
      allOf(all.map((path) => this.find(path))),
      (found) => new Map(all.map((path, n) => [path, found[n]])),
    );
  }

  /** Forgets the resource at a path, after an edit that neither moves nor removes it. */
  put(path: string): void {
    this.#found.delete(path);
  }

  /** Forgets all places, since an edit may have changed them. */
  forget(): void {
    this.#found.clear();
    this.#collections.clear();
    this.#collections.set('', ROOT);
  }

  async #findLevels(levels: readonly (ReadonlySet<string> | undefined)[]): Promise<void> {
    for (const level of levels) {
      const all = [...(level ?? [])];
      for (let n = 0; n < all.length; n += AT_ONCE) await this.#members(all.slice(n, n + AT_ONCE));
    }
  }

  async #findLong(paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.find(path);
  }

  #walk(path: string): Awaitable<Found | undefined> {
    const names: string[] = [];
    let at = path;
    let from: Place | undefined;
    do {
      const [parent, name] = split(at);
      names.unshift(name);
      at = parent;
      from = this.#collections.get(parent);
    } while (from === undefined && names.length < STEPS);
    // The next walk can use the answers that are already there.
    return andThen(
      from ?? this.at(at),
      (above) =>
        above &&
        andThen(
          this.#sql.all(WALKS_OF_TWO[names.length - 1] ?? '', this.#tree, above.id, ...names),
          ([row]) => row && this.#arrived({ names, from: above, at }, row),
        ),
    );
  }

  /** Returns the resource to which a walk has led. */
  #arrived({ names, from, at: start }: Walk, row: Row): Found | undefined {
    let [above, at] = [from, start];
    let found: Found | undefined;
    const steps = Math.max(0, names.length - 2);
    for (const [n, name] of names.entries()) {
      at = join(at, name);
      if (n < steps) {
        const [edit, arrivedAt, id, kind] = stepIn(row, n);
        if (id === null) return undefined;
        const arrival = later({ edit, at: arrivedAt }, above.arrival);
        above = { id, size: Buffer.byteLength(name), above, arrival };
        if (kind === 'collection') this.#collections.set(at, above);
      } else {
        const begin = STEP.length * steps + LOCATED.length * (n - steps);
        const located = row.slice(begin, begin + LOCATED.length) as unknown as Located;
        const isThere = (located[2] as number | null) !== null;
        found = isThere ? this.#foundAt(at, above, located) : undefined;
        this.#found.set(at, found);
        if (found === undefined) return undefined;
        above = this.#collections.get(at) ?? above;
      }
    }
    return found;
  }

  /** Looks for resources whose collections are already known. */
  async #members(paths: readonly string[]): Promise<void> {
    const wanted = new Map<string, readonly [path: string, above: Place]>();
    for (const path of paths) {
      const [parent, name] = split(path);
      const above = this.#collections.get(parent);
      this.#found.set(path, undefined);
      if (above) wanted.set(`${digitsOf(above.id)}${name}`, [path, above]);
    }
    if (wanted.size === 0) return;
    const keys = JSON.stringify([...wanted.keys()]);
    for (const [key, ...located] of await this.#sql.all<MemberRow>(MEMBERS, this.#tree, keys)) {
      const [path, above] = wanted.get(key) ?? [];
      if (path !== undefined && above) this.#found.set(path, this.#foundAt(path, above, located));
    }
  }

  #foundAt(path: string, above: Place, [edit, arrivedAt, ...resource]: Located): Found {
    const [id, bytes, , name] = resource;
    const arrival = later({ edit, at: arrivedAt }, above.arrival);
    const place = path === '' ? ROOT : { id, size: Buffer.byteLength(name), above, arrival };
    const entry = entryOf(split(path)[0], above.arrival, resource);
    if (entry.kind === 'collection') this.#collections.set(path, place);
    return { row: id, bytes, place, entry };
  }
}

const stepIn = (row: Row, n: number) =>
  row.slice(STEP.length * n, STEP.length * (n + 1)) as unknown as Step;

/** The resource of the last step, if that leads to one. */
const resourceIn = (row: Row, n: number) =>
  row.slice(STEP.length * n + ARRIVAL.length) as unknown as ResourceRow;

const later = (one: Arrival, other: Arrival): Arrival => (one.edit > other.edit ? one : other);

/** Yields a place and its ancestors, without the root. */
export function* upwards(place: Spot): Generator<Spot> {
  for (let at: Spot | undefined = place; at?.above; at = at.above) yield at;
}
