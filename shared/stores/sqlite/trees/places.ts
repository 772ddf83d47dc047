import type { Entry } from '../../trees/trees.ts';
import type { Connection } from '../file/connection.ts';
import { type Arrival, COLUMNS, entryOf, IN, type ResourceRow, split } from './resource-rows.ts';

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

type PlaceRow = readonly [id: number, arrived: number, arrivedAt: number];

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
  readonly connection: Connection;
  readonly tree: string;
  readonly #known = new Map([['', ROOT]]);

  constructor(connection: Connection, tree: string) {
    this.connection = connection;
    this.tree = tree;
  }

  /** The place that a path leads to; undefined: to none. */
  at(path: string): Place | undefined {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const [parent, name] = split(path);
    const above = this.at(parent);
    const [row] = above ? this.#rowOf<PlaceRow>('id, arrived, arrived_at', above, name) : [];
    if (above === undefined || row === undefined) return undefined;
    const [id, edit, at] = row;
    const arrival = edit > above.arrival.edit ? { edit, at } : above.arrival;
    const place = { id, size: Buffer.byteLength(name), above, arrival };
    this.#known.set(path, place);
    return place;
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

/** A place and those that it is in, but the root. */
export function* upwards(place: Spot): Generator<Spot> {
  for (let at: Spot | undefined = place; at?.above; at = at.above) yield at;
}
