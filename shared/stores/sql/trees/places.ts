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

/** Where rows are that no path leads to: `parent` of what is to be removed, and of a copy that is being made. */
export const DETACHED = -1;
export const BUILDING = -2;

/** Names of a path that one statement follows: SQLite joins 64 tables at most. */
export const STEPS = 32;

/** Where something is in a tree; the root is in nothing. */
export interface Spot {
  /** Its row, the `parent` of its members; 0 for the root, which may have none. */
  readonly id: number;
  /** Bytes of its name. */
  readonly size: number;
  readonly above?: Place;
}

/** A collection, with the last arrival of it or of those that it is in. */
export interface Place extends Spot {
  readonly arrival: Arrival;
}

const ROOT: Place = { id: 0, size: 0, arrival: { edit: 0, at: 0 } };

/** A resource, where it is, and how many bytes it adds to those of its tree. */
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

/** One statement follows these names from a collection, which is at the path `at`. */
interface Walk {
  readonly names: readonly string[];
  readonly from: Place;
  readonly at: string;
}

/** All of a resource. */
const LOCATED = [...ARRIVAL, ...COLUMNS.split(', ')];
type Located = readonly [arrived: number, arrivedAt: number, ...ResourceRow];

/**
 * In SQL, for each number of names: a `Step` each, from the collection `?2` of the tree `?1`. The last ones, so many, are
 * `Located`.
 */
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
/** Most that look for a resource look for its collection, too. */
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

/** The places of one tree at one moment, each looked for once, and again after an edit that may have changed it. */
export class Places {
  readonly #sql: Sql;
  readonly #tree: string;
  readonly #collections = new Map([['', ROOT]]);
  readonly #found = new Map<string, Found | undefined>();

  constructor(sql: Sql, tree: string) {
    this.#sql = sql;
    this.#tree = tree;
  }

  /** The place of the collection at a path; undefined: there is none. */
  async at(path: string): Promise<Place | undefined> {
    if (!this.#collections.has(path)) await this.find(path);
    return this.#collections.get(path);
  }

  /** The same of the collection with an id, wherever it is; without one, of that at the path. */
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
    // Else it is, or is in, something that is to be removed.
    const isThere = up.some(([, parent]) => parent === ROOT.id);
    if (!isIt || !isThere) return undefined;
    return { id: row, arrival: up.map(([, , , edit, at]) => ({ edit, at })).reduce(later) };
  }

  /** Asks once for a path of up to `STEPS` names. */
  find(path: string): Awaitable<Found | undefined> {
    if (this.#found.has(path)) return this.#found.get(path);
    return andThen(this.#walk(path), (found) => {
      this.#found.set(path, found);
      return found;
    });
  }

  /** Finds each of these, with as few questions as it can. */
  findAll(paths: ReadonlySet<string>): Awaitable<unknown> {
    const [path] = paths;
    if (paths.size === 1 && path !== undefined) return this.find(path);
    return andThen(this.findMany(paths), () => this.findEach(paths));
  }

  /** Looks for many, where all whose paths have as many names are one question. `find` asks once then, or not at all. */
  findMany(paths: ReadonlySet<string>): Awaitable<void> {
    if (paths.size > 2) {
      const levels: (Set<string> | undefined)[] = [];
      for (const path of paths) {
        for (let at = path; at !== '' && !this.#found.has(at); [at] = split(at)) {
          (levels[at.split('/').length] ??= new Set()).add(at);
        }
      }
      // SQLite takes as long for one of these questions as for two of `find`.
      if (paths.size > 2 * levels.length) return this.#findLevels(levels);
    }
    const long = [...paths].filter((path) => path.split('/').length > STEPS);
    return long.length > 0 ? this.#findLong(long) : undefined;
  }

  /** Finds each; behind `findMany`. */
  findEach(paths: ReadonlySet<string>): Awaitable<ReadonlyMap<string, Found | undefined>> {
    const all = [...paths];
    return andThen(
      allOf(all.map((path) => this.find(path))),
      (found) => new Map(all.map((path, n) => [path, found[n]])),
    );
  }

  /** Forgets what is at a path, after an edit that neither moves nor removes it. */
  put(path: string): void {
    this.#found.delete(path);
  }

  /** Forgets what an edit may have changed. */
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
    // The next walk knows the answers that came at once.
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

  /** Returns what a walk has led to. */
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

/** A place and those that it is in, but the root. */
export function* upwards(place: Spot): Generator<Spot> {
  for (let at: Spot | undefined = place; at?.above; at = at.above) yield at;
}
