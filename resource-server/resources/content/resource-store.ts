import type {
  Document,
  Edit,
  Entry,
  Listing,
  Quota,
  TreeView,
} from '#shared/stores/trees/trees.ts';
import type { Pieces } from '../../answers/pieces.ts';
import type { Range } from '../../answers/range.ts';

/** What to do about what was seen, and what the caller gets when it is done. */
export interface Decision<T> {
  readonly edits: readonly Edit[];
  readonly value: T;
}

/** One tree of resources: who is at home in it sees nothing else. Its root is always there. */
export interface ResourceStore {
  /** What one tree may hold. */
  readonly quota: Quota;
  get(path: string): Promise<Entry | undefined>;
  /** Several paths, the locks and the usage, at one moment. */
  look(paths: readonly string[]): Promise<TreeView>;
  /** As `Trees.version`. */
  version(): Promise<string | undefined>;
  /** What is directly in a collection, by name, after the name `after`; at most `limit`. */
  members(path: string, after: string, limit: number): Promise<readonly Entry[]>;
  /** The same without their dead properties. */
  list(path: string, after: string, limit: number): Promise<Listing>;
  /**
   * Looks at the paths, lets `decide` judge, and commits its edits if all that it saw is still so;
   * else again. `decide` throws to refuse. What takes a collection with all that is in it waits for its
   * turn first. Rejects with `HttpError` 507 when the quota is used up, 403 when a path would be too long,
   * 503 when others were faster too often or too many wait for their turn.
   */
  change<T>(paths: readonly string[], decide: (view: TreeView) => Decision<T>): Promise<T>;
  /**
   * Takes in content, which never changes, under a new name, and hands that to `commit`, which names it in a
   * `change`: then it is durable. `announced`: bytes that are known to come. Removed again when `commit`
   * rejects with anything but an outage of the store. Rejects with `HttpError` 413 when it is too long, 503
   * when too much is being received, 507 when the disk is full.
   */
  receive<T>(
    body: AsyncIterable<Buffer>,
    commit: (received: Received) => Promise<T>,
    announced?: number,
  ): Promise<T>;
  /**
   * The content, or a part of it. Undefined: the document was replaced or removed meanwhile; look again.
   */
  content(document: Document, range?: Range): Promise<Buffer | Pieces | undefined>;
}

/** Content that is all there. */
export interface Received {
  readonly file: string;
  readonly length: number;
}
