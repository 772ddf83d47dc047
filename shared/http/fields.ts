import { COMMAS, Scanner } from './scanner.ts';

/** The request is malformed or ambiguous: 400. The message is fit for the client. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  readonly status = 400;
}

/** The value of every line of a field, in order. `raw` is node:http's `rawHeaders`. */
export function lines(raw: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase();
  const found: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const field = raw[index] ?? '';
    if (field.length === wanted.length && field.toLowerCase() === wanted) {
      found.push(raw[index + 1] ?? '');
    }
  }
  return found;
}

/** Whether there is a line of a field; `name` in lower case. */
export function has(raw: readonly string[], name: string): boolean {
  return raw.some(
    (field, index) =>
      index % 2 === 0 && field.length === name.length && field.toLowerCase() === name,
  );
}

/** The value of a field that may come once (RFC 9110 section 5.3); throws `BadRequest` when it comes twice. */
export function single(raw: readonly string[], name: string): string | undefined {
  const wanted = name.toLowerCase();
  let found: string | undefined;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const field = raw[index] ?? '';
    if (field.length !== wanted.length || field.toLowerCase() !== wanted) continue;
    if (found !== undefined) throw new BadRequest(`The field ${name} may be sent once only.`);
    found = raw[index + 1] ?? '';
  }
  return found;
}

/** The members of a list in which nothing is quoted, such as one of tokens, without the empty ones. */
export function plainMembers(value: string): readonly string[] {
  const members: string[] = [];
  for (let start = 0, end = 0; start < value.length; start = end + 1) {
    const comma = value.indexOf(',', start);
    end = comma === -1 ? value.length : comma;
    const member = end === start ? '' : value.slice(start, end).trim();
    if (member !== '') members.push(member);
  }
  return members;
}

const OWS = /[ \t]+/y;
const PIECE = /[^", \t]+/y;

/** The most members of a list: as many as recipients of structured fields have to take (RFC 9651 section 3.1). */
export const MOST_MEMBERS = 1024;

/**
 * The members of a comma-separated list from all its lines, without the empty ones (RFC 9110 section 5.6.1.2). A comma
 * within a quoted-string separates nothing. Throws `BadRequest` for a quoted-string that never ends, and for more than
 * 1,024 members (section 5.4).
 */
export function listMembers(values: readonly string[]): readonly string[] {
  const members = firstParts(values, membersIn, MOST_MEMBERS + 1);
  if (members.length > MOST_MEMBERS) throw new BadRequest('A list has more than 1,024 members.');
  return members;
}

/**
 * The first 1,024 members of a list of preferences, of which a server need not meet any. Throws `BadRequest` for a
 * quoted-string among them that never ends.
 */
export const firstMembers = (values: readonly string[]): readonly string[] =>
  firstParts(values, membersIn, MOST_MEMBERS);

/** The first parts of the lines of a field, at most as many. What follows is not read. */
export function firstParts<T>(
  values: readonly string[],
  partsIn: (value: string) => Iterable<T>,
  most: number,
): readonly T[] {
  const parts: T[] = [];
  for (const value of values) {
    for (const part of partsIn(value)) {
      parts.push(part);
      if (parts.length === most) return parts;
    }
  }
  return parts;
}

function* membersIn(value: string): Generator<string> {
  const scanner = new Scanner(value);
  for (;;) {
    scanner.read(OWS);
    scanner.read(COMMAS);
    if (scanner.done) return;
    const start = scanner.at;
    let end = start;
    while ((scanner.read(PIECE) ?? scanner.quotedString()) !== undefined) {
      end = scanner.at;
      scanner.read(OWS);
    }
    if (!scanner.delimited) throw new BadRequest('A list has a quoted string that is malformed.');
    yield value.slice(start, end);
  }
}
