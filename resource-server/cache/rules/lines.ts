import type { Lines } from '../../forwarding/fields.ts';

/** The value of every line of a field; `name` in lower case. */
export function valuesOf(lines: Lines, name: string): string[] {
  const found: string[] = [];
  for (const [sent, value] of lines) {
    if (sent.length === name.length && sent.toLowerCase() === name) found.push(value);
  }
  return found;
}

/**
 * The value of a field that may appear once (RFC 9110 section 5.3). Undefined if it appears several times, since it is
 * unclear which value is valid.
 */
export function onlyOf(lines: Lines, name: string): string | undefined {
  const [value, ...more] = valuesOf(lines, name);
  return more.length === 0 ? value : undefined;
}

/** Returns all lines except fields with these names, in lower case. */
export function without(lines: Lines, names: ReadonlySet<string>): Lines {
  return lines.filter(([name]) => !names.has(name.toLowerCase()));
}
