/**
 * The first MOST_LARGE readers read LARGE octets at once, further readers SMALL: a piece stays in memory until its
 * client has taken it.
 */
const LARGE = 256 * 1024;
const MOST_LARGE = 32;
const SMALL = 64 * 1024;

let large = 0;

/** The octets that one reader reads at once, in any cache of this process. The reader disposes of it at the end. */
export function pieceSize(): Disposable & { readonly octets: number } {
  const isLarge = large < MOST_LARGE;
  if (isLarge) large += 1;
  return {
    octets: isLarge ? LARGE : SMALL,
    [Symbol.dispose]() {
      if (isLarge) large -= 1;
    },
  };
}
