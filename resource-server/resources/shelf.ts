import type { Clock } from '#shared/clock.ts';
import type { Random } from '#shared/random.ts';
import type { Documents } from '#shared/stores/documents.ts';
import type { Content } from './content.ts';

/** Where the documents of one space are kept: rows in the store, content in files. */
export interface Shelf {
  /** Name of the collection in the store. */
  readonly key: string;
  readonly rows: Documents;
  readonly content: Content;
  /** Longest document, in bytes. */
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly random: Random;
}
