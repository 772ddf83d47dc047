/** Values of all cookies of that name (RFC 6265 section 4.2.1), in the order in which the browser sent them. */
export function cookiesNamed(lines: readonly string[], name: string): string[] {
  return allCookies(lines).flatMap(([each, value]) => (each === name ? value : []));
}

/** Names and values of all cookies. */
export function allCookies(lines: readonly string[]): (readonly [name: string, value: string])[] {
  return lines.flatMap((line) =>
    line.split(';').map((pair) => {
      const equals = pair.indexOf('=');
      return [pair.slice(0, Math.max(0, equals)).trim(), pair.slice(equals + 1).trim()] as const;
    }),
  );
}

/** The value of a Cookie field without some of them; empty: none is left. */
export function withoutCookies(line: string, gone: (name: string) => boolean): string {
  const kept = line
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !gone(pair.split('=')[0]?.trim() ?? ''));
  return kept.join('; ');
}
