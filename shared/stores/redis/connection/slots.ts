/** The characters that identifiers of ours begin with: base64url (RFC 4648 section 5). Each has a slot. */
const BEGINNINGS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');

/**
 * Where a store keeps what belongs to single people, clients and tokens. Redis Cluster places a key by the part in
 * braces, and one script writes only what has the same.
 */
export interface Slots {
  /** The beginnings of all names of keys, each with its braces. */
  readonly all: readonly string[];
  /** Returns that of an identifier, which its first character decides. */
  of(id: string): string;
  /** Returns what another identifier has to begin with to be in the slot of this one. */
  beginningOf(id: string): string;
}

/** As many slots as there are first characters, so that no shard has everything. */
export function manySlots(prefix: string): Slots {
  const named = (beginning: string) => `{${prefix}:${beginning}}`;
  const beginningOf = (id: string) => {
    const first = id.charAt(0);
    return BEGINNINGS.includes(first) ? first : '-';
  };
  return {
    all: BEGINNINGS.map(named),
    of: (id) => named(beginningOf(id)),
    beginningOf,
  };
}
