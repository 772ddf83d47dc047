import { BadRequest, listMembers } from '#shared/http/fields.ts';

/** Values in which a comma separates nothing, or white space around it may mean something: compared as they are. */
const NO_LIST =
  /^(?:authorization|cookie|date|from|if-(?:modified|unmodified)-since|if-range|origin|referer|user-agent|sec-.+)$/;

/** Lists in which case means nothing (RFC 9110 sections 8.4.1, 8.3.2 and 8.5.1). */
const CASELESS = new Set(['accept-charset', 'accept-encoding', 'accept-language']);

/**
 * The lines of a field in the form that all share that mean the same (RFC 9111 section 4.1). The order of members
 * stays: some servers prefer what comes first.
 */
export function normalised(name: string, values: readonly string[]): string {
  // As the application gets it (RFC 9113 section 8.2.3).
  const between = name === 'cookie' ? '; ' : ', ';
  const joined = values.map((value) => value.trim()).join(between);
  if (NO_LIST.test(name)) return joined;
  const members = membersOf(joined);
  if (members === undefined) return joined;
  const plain = members.join(', ');
  return CASELESS.has(name)
    ? plain.toLowerCase().replaceAll(/(?<![ \t])[ \t]*;[ \t]*/g, ';')
    : plain;
}

/** Undefined: it is no list, or too long a one. */
function membersOf(value: string): readonly string[] | undefined {
  try {
    return listMembers([value]).map((member) => member.trim());
  } catch (error) {
    if (error instanceof BadRequest) return undefined;
    throw error;
  }
}
