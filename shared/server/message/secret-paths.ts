import { remembering } from '#shared/base/recent-map.ts';

/** Decodings after which a path is taken as it is: a proxy and a server may both decode. */
const DECODINGS = 3;

/** Decodes what can be decoded. Octets beyond ASCII stay, since no beginning of a secret path has them. */
const decoded = (path: string): string =>
  path.replace(/%([0-7][0-9a-f])/gi, (_, octet: string) =>
    String.fromCharCode(Number.parseInt(octet, 16)),
  );

/** Returns a path as the laxest reader would take it. */
function laxly(path: string): string {
  let text = path;
  for (let time = 0; time < DECODINGS; time += 1) text = decoded(text);
  const plain = text
    .toLowerCase()
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/');
  return URL.parse(plain, 'http://a')?.pathname ?? plain;
}

/**
 * Returns what the log may have of a path: the beginning alone of one below `beginnings`, since the rest is a secret there.
 * However it is spelled: a client that misspells a secret still sends it.
 */
export function secretPaths(beginnings: readonly string[]): (path: string) => string {
  if (beginnings.length === 0) return (path) => path;
  const written = (path: string) => {
    const lax = laxly(path);
    return beginnings.find((beginning) => lax.startsWith(beginning.toLowerCase())) ?? path;
  };
  return remembering(written, { capacity: 1000, longest: 512 });
}
