/** What is known of a stored document; its content is an immutable file that the row names. */
export interface DocumentRow {
  /** Path of decoded segments joined by `/`, without a leading slash. */
  readonly path: string;
  /** Strong entity tag without quotes (RFC 9110 section 8.8.3). */
  readonly etag: string;
  readonly type: string;
  readonly length: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Name of the content file. */
  readonly file: string;
}

/** What has to be there for a change to happen: any state, nothing, or exactly this entity tag. */
export type Expected = 'any' | 'absent' | { readonly etag: string };

/** `changed`: done, with the row that was there before. `conflict`: the expectation failed; nothing was done. */
export type Change =
  | { readonly kind: 'changed'; readonly before: DocumentRow | undefined }
  | { readonly kind: 'conflict'; readonly current: DocumentRow | undefined };

/** One compare-and-set of a row is the commit of every change to a document. `space` separates collections. */
export interface Documents {
  get(space: string, path: string): Promise<DocumentRow | undefined>;
  put(space: string, row: DocumentRow, expected: Expected): Promise<Change>;
  remove(space: string, path: string, expected: Expected): Promise<Change>;
  /** Rows whose path starts with `prefix`, by path. */
  list(space: string, prefix: string): Promise<readonly DocumentRow[]>;
}
