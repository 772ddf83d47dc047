/** Matches unreserved characters, whose percent-encoded form has the same meaning (RFC 3986 section 6.2.2.2). */
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/** Matches a path without an escape or a dot segment, which has only one spelling. */
const PLAIN = /^(?:\/(?!\.)[\w.~,:=@+-]*)+$/;

/**
 * Returns path and query in one spelling for all targets that mean the same (RFC 3986 section 6.2.2), and for some
 * that do not. The cache finds answers by the spelling of their requests, but removes them by this spelling. So no
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
