/** An entity tag (RFC 9110 section 8.8.3). */
export interface EntityTag {
  readonly weak: boolean;
  /** The text between the quotes, which has no escapes. */
  readonly opaque: string;
}

/** Matches an entity-tag; a pattern for `Scanner`. */
export const ENTITY_TAG = /(?:W\/)?"[!\x23-\x7e\x80-\xff]*"/y;

const WHOLE = new RegExp(`^${ENTITY_TAG.source}$`);

export function parseEntityTag(value: string): EntityTag | undefined {
  if (!WHOLE.test(value)) return undefined;
  const weak = value.startsWith('W/');
  return { weak, opaque: value.slice(weak ? 3 : 1, -1) };
}

/** Returns the value of ETag; throws TypeError if `opaque` has a character that is not allowed. */
export function formatEntityTag({ weak, opaque }: EntityTag): string {
  const value = `${weak ? 'W/' : ''}"${opaque}"`;
  if (!WHOLE.test(value)) throw new TypeError('not the text of an entity tag');
  return value;
}

/** Compares strongly (RFC 9110 section 8.8.3.2). */
export function strongMatch(one: EntityTag, other: EntityTag): boolean {
  return !one.weak && !other.weak && one.opaque === other.opaque;
}

/** Compares weakly (RFC 9110 section 8.8.3.2). */
export function weakMatch(one: EntityTag, other: EntityTag): boolean {
  return one.opaque === other.opaque;
}
