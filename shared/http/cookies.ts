export type Cookie = readonly [name: string, value: string];

/** Several times the cookies that a browser keeps for one host (RFC 6265 section 6.1). */
const MOST = 1000;

/** Matches the text between two semicolons, if there is any, without spaces and tabs before it. */
const PAIR = /[^; \t][^;]*/g;

/**
 * The cookies of a request (RFC 6265 section 4.2.1) in the order sent. A request with more than 1,000 has none: a second
 * one of a name could hide behind them.
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

/** The values of all cookies of that name. */
export function cookiesNamed(cookies: readonly Cookie[], name: string): string[] {
  return cookies.flatMap(([each, value]) => (each === name ? value : []));
}

/** The value of a Cookie field without some of its cookies; empty: none is left. */
export function withoutCookies(line: string, gone: (name: string) => boolean): string {
  const pairs = line.match(PAIR) ?? [];
  const kept = pairs.filter((pair) => !gone(trimmed(pair.split('=', 1)[0] ?? '')));
  return kept.map((pair) => trimmed(pair)).join('; ');
}

/**
 * Without spaces and tabs around it (RFC 6265 section 5.2). `trim` takes away U+00A0 as well, and would make of a name
 * that a sibling host may set one that begins with `__Host-`.
 */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text[start])) start += 1;
  while (start < end && isSpace(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

const isSpace = (character: string | undefined) => character === ' ' || character === '\t';
