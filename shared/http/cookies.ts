/** Values of all cookies of that name (RFC 6265 section 4.2.1), in the order in which the browser sent them. */
export function cookiesNamed(lines: readonly string[], name: string): string[] {
  return allCookies(lines).flatMap(([each, value]) => (each === name ? value : []));
}

/** Names and values of all cookies. */
export function allCookies(lines: readonly string[]): (readonly [name: string, value: string])[] {
  return lines.flatMap((line) =>
    line.split(';').map((pair) => {
      const equals = pair.indexOf('=');
      return [
        trimmed(pair.slice(0, Math.max(0, equals))),
        trimmed(pair.slice(equals + 1)),
      ] as const;
    }),
  );
}

/** The value of a Cookie field without some of them; empty: none is left. */
export function withoutCookies(line: string, gone: (name: string) => boolean): string {
  const kept = line
    .split(';')
    .map((pair) => trimmed(pair))
    .filter((pair) => pair !== '' && !gone(trimmed(pair.split('=')[0] ?? '')));
  return kept.join('; ');
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
