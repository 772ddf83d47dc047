/** Unreserved characters mean the same percent-encoded (RFC 3986 section 6.2.2.2). */
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/** Without an escape or a dot segment there is one spelling. */
const PLAIN = /^(?:\/(?!\.)[\w.~,:=@+-]*)+$/;

/**
 * For the cache: returns path and query in one spelling for all that mean the same (RFC 3986 section 6.2.2), and for some
 * that do not. The cache finds answers by the spelling of their requests. It removes answers by this spelling, so that no
 * answer stays under another spelling.
 */
export function groupOf(target: string): string {
  if (PLAIN.test(target)) return target;
  const plain = target.replaceAll(/%([0-9a-f]{2})/gi, (escape, digits: string) => {
    const character = String.fromCodePoint(Number.parseInt(digits, 16));
    return UNRESERVED.test(character) ? character : escape.toUpperCase();
  });
  const url = URL.parse(`http://group.invalid${plain}`);
  return url === null ? plain : url.pathname + url.search;
}
