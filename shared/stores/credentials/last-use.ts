/** Milliseconds: how exactly the last use is kept, so that not each use is a write. */
const PRECISION = 60_000;

/** The key as it is after `touch`; the same object when that use need not be noted. */
export function used<Key extends { readonly used_at?: number }>(key: Key, at: number): Key {
  const noted = key.used_at !== undefined && at < key.used_at + PRECISION;
  return noted ? key : { ...key, used_at: at };
}
