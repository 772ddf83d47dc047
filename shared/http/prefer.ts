import { lines, listMembers } from './fields.ts';

/** The answer to a write that a client prefers (RFC 7240 section 4.2). */
export type PreferredReturn = 'representation' | 'minimal';

const RETURN = /^return[ \t]*=[ \t]*"?([^";\t ]*)"?[ \t]*(?:;|$)/i;

/**
 * The preference `return` of a request; any other one, and any other value, is as good as none. Of several the first
 * counts (RFC 7240 section 2), and of both none (section 4.2). Throws `BadRequest` for what is no list.
 */
export function preferredReturn(raw: readonly string[]): PreferredReturn | undefined {
  const members = lines(raw, 'prefer').flatMap(listMembers);
  const asked = members.flatMap((member) => RETURN.exec(member)?.[1]?.toLowerCase() ?? []);
  if (asked.includes('representation') && asked.includes('minimal')) return undefined;
  const [first] = asked;
  return first === 'representation' || first === 'minimal' ? first : undefined;
}

const PREFERENCE = /^([^=; \t]+)[ \t]*(?:=[ \t]*"?([^";\t ]*)"?[ \t]*)?(?:;|$)/;

/**
 * The value of any preference of a request, empty if it has none; undefined if it is not asked for. Of several the first
 * counts (RFC 7240 section 2). Throws `BadRequest` for what is no list.
 */
export function preference(raw: readonly string[], name: string): string | undefined {
  for (const member of lines(raw, 'prefer').flatMap(listMembers)) {
    const [, found, value = ''] = PREFERENCE.exec(member) ?? [];
    if (found?.toLowerCase() === name) return value;
  }
  return undefined;
}
