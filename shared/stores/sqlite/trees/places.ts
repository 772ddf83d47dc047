import type { Collection, Entry } from '../../trees/trees.ts';
import type { Statements } from '../file/connection.ts';
import {
  type Arrival,
  COLUMNS,
  collectionId,
  entryOf,
  IN,
  type ResourceRow,
  rowIn,
  split,
} from './resource-rows.ts';

/** Where rows are that no path leads to: `parent` of what is to be removed, and of a copy that is being made. */
export const DETACHED = -1;
export const BUILDING = -2;

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

type PlaceRow = readonly [id: number, kind: Entry['kind'], arrived: number, arrivedAt: number];

const ROOT: Place = { id: 0, size: 0, arrival: { edit: 0, at: 0 } };

/** A resource, where it is, and how many bytes it adds to those of its tree. */
export interface Found {
  readonly place: Spot;
  readonly row: number;
  readonly entry: Entry;
  readonly bytes: number;
}

/** The places of one tree in one transaction, each looked for once. */
export class Places {
  readonly connection: Statements;
  readonly tree: string;
  readonly #known = new Map([['', ROOT]]);

  constructor(connection: Statements, tree: string) {
    this.connection = connection;
    this.tree = tree;
  }

  /** The place of the collection at a path; undefined: there is none. */
  at(path: string): Place | undefined {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const [parent, name] = split(path);
    const above = this.at(parent);
    const [row] = above ? this.#rowOf<PlaceRow>('id, kind, arrived, arrived_at', above, name) : [];
    if (above === undefined || row === undefined) return undefined;
    const [id, kind, edit, at] = row;
    if (kind !== 'collection') return undefined;
    const arrival = later({ edit, at }, above.arrival);
    const place = { id, size: Buffer.byteLength(name), above, arrival };
    this.#known.set(path, place);
    return place;
  }

  /** The same of the collection with an id, wherever it is; without one, of that at the path. */
  of({ path, id }: Pick<Collection, 'path' | 'id'>): Pick<Place, 'id' | 'arrival'> | undefined {
    return path === '' || id === undefined ? this.at(path) : this.#upFrom(rowIn(id), id);
  }

  /** Undefined, too, where it leads to no root: it is, or is in, something that is to be removed. */
  #upFrom(row: number, id?: string): Pick<Place, 'id' | 'arrival'> | undefined {
    if (row === ROOT.id) return ROOT;
    const [found] = this.connection.all<
      [parent: number, created: number, arrived: number, arrivedAt: number]
    >('SELECT parent, created, arrived, arrived_at FROM resource WHERE id = ?', row);
    if (found === undefined) return undefined;
    const [parent, created, edit, at] = found;
    if (id !== undefined && id !== collectionId(row, created)) return undefined;
    const above = this.#upFrom(parent);
    return above && { id: row, arrival: later({ edit, at }, above.arrival) };
  }

  find(path: string): Found | undefined {
    const [parent, name] = split(path);
    const above = this.at(parent);
    const [row] = above ? this.#rowOf<ResourceRow>(COLUMNS, above, name) : [];
    if (above === undefined || row === undefined) return undefined;
    const [id, bytes] = row;
    return {
      row: id,
      place: path === '' ? ROOT : { id, size: Buffer.byteLength(name), above },
      entry: entryOf(parent, above.arrival, row),
      bytes,
    };
  }

  #rowOf<R extends PlaceRow | ResourceRow>(columns: string, above: Place, name: string): R[] {
    return this.connection.all<R>(
      `SELECT ${columns} FROM resource WHERE ${IN} AND name = ?`,
      this.tree,
      above.id,
      name,
    );
  }

  /** Forgets what an edit may have changed. */
  forget(): void {
    this.#known.clear();
    this.#known.set('', ROOT);
  }
}

const later = (one: Arrival, other: Arrival): Arrival => (one.edit > other.edit ? one : other);

/** A place and those that it is in, but the root. */
export function* upwards(place: Spot): Generator<Spot> {
  for (let at: Spot | undefined = place; at?.above; at = at.above) yield at;
}
