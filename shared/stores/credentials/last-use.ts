/** Milliseconds: the precision of the last use, so that not every use is a write. */
const PRECISION = 60_000;

/** Returns the key after `touch`, or the same object if nothing must be written. */
export function used<Key extends { readonly used_at?: number }>(key: Key, at: number): Key {
  const noted = key.used_at !== undefined && at < key.used_at + PRECISION;
  return noted ? key : { ...key, used_at: at };
}
