export type Cookie = readonly [name: string, value: string];

/**
 * The most cookies that are read: several times the number that a browser keeps for one host (RFC 6265 section 6.1).
 */
const MOST = 1000;

/** Matches the text between two semicolons, if there is any, without spaces and tabs before it. */
const PAIR = /[^; \t][^;]*/g;

/**
 * Returns the cookies of a request (RFC 6265 section 4.2.1) in their order. For a request with more than 1,000
 * cookies it returns none: after the limit a second cookie with the same name could be hidden.
 */
export function parseCookies(lines: readonly string[]): readonly Cookie[] {
  const cookies: Cookie[] = [];
  for (const line of lines) {
    for (const [pair] of line.matchAll(PAIR)) {
      if (cookies.length === MOST) return [];
      const equals = pair.indexOf('=');
      cookies.push([trimmed(pair.slice(0, Math.max(0, equals))), trimmed(pair.slice(equals + 1))]);
    }
  }
  return cookies;
}

/** Returns the values of all cookies with that name. */
export function cookiesNamed(cookies: readonly Cookie[], name: string): string[] {
  return cookies.flatMap(([each, value]) => (each === name ? value : []));
}

/** Returns the value of a Cookie field without some of its cookies; empty if none is left. */
export function withoutCookies(line: string, gone: (name: string) => boolean): string {
  const pairs = line.match(PAIR) ?? [];
  const kept = pairs.filter((pair) => !gone(trimmed(pair.split('=', 1)[0] ?? '')));
  return kept.map((pair) => trimmed(pair)).join('; ');
}

/**
 * Returns the text without spaces and tabs around it (RFC 6265 section 5.2). `trim` also removes U+00A0: a name that
 * a sibling host may set would then begin with `__Host-`.
 */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text[start])) start += 1;
  while (start < end && isSpace(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

const isSpace = (character: string | undefined) => character === ' ' || character === '\t';
