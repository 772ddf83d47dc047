import type {
  Collection,
  Document,
  Edit,
  Entry,
  Listing,
  Quota,
  TreeView,
} from '#shared/stores/trees/trees.ts';
import type { Pieces } from '../../answers/pieces.ts';
import type { Range } from '../../answers/range.ts';

/** The edits that follow from a view, and the caller's result once they are committed. */
export interface Decision<T> {
  readonly edits: readonly Edit[];
  readonly value: T;
}

/** One tree of resources. Its owner cannot see outside it. Its root always exists. */
export interface ResourceStore {
  /** The quota of this tree. */
  readonly quota: Quota;
  get(path: string): Promise<Entry | undefined>;
  /** Reads several paths, the locks and the usage as of one moment. */
  look(paths: readonly string[]): Promise<TreeView>;
  /** Same as `Trees.version`. */
  version(): Promise<string | undefined>;
  /** Same as `Trees.members`. */
  members(
    collection: Pick<Collection, 'path' | 'id'>,
    after: string,
    limit: number,
  ): Promise<readonly Entry[] | undefined>;
  /** Same as `Trees.list`. */
  list(path: string, after: string, limit: number): Promise<Listing | undefined>;
  /**
   * Reads the paths, calls `decide`, and commits its edits if nothing that it saw has changed. Otherwise tries again.
   * `seen`: what `look` found at these paths. It is decided first without reading, and cannot cause a refusal. `decide`
   * throws to refuse. A change of a whole collection first waits for its turn. Rejects with `HttpError` 507 if the
   * quota is used up, and 403 if a path would be too long. Rejects with 503 if other changes were faster too often, or
   * too many wait for their turn.
   */
  change<T>(
    paths: readonly string[],
    decide: (view: TreeView) => Decision<T>,
    seen?: TreeView,
  ): Promise<T>;
  /**
   * Stores immutable content under a new name and passes the name to `commit`, whose `change` refers to it.
   * `announced`: bytes that are known to come. The content is removed if `commit` rejects with anything but an outage
   * of the store. Rejects with `HttpError` 413 if the content is too long, 503 if too many uploads run, 507 if the disk
   * is full.
   */
  receive<T>(
    body: AsyncIterable<Buffer>,
    commit: (received: Received) => Promise<T>,
    announced?: number,
  ): Promise<T>;
  /**
   * Reads the content or a part of it. Resolves to undefined if the document was replaced or removed meanwhile, so the
   * caller looks again. Rejects with `HttpError` 500 if the content is damaged or lost, and logs it.
   */
  content(document: Document, range?: Range): Promise<Buffer | Pieces | undefined>;
}

/** Content that has been received completely. */
export interface Received {
  readonly file: string;
  readonly length: number;
}
