import { COMMAS, Scanner } from './scanner.ts';

/** Thrown if the request is malformed or ambiguous; the answer is 400. The message may be sent to the client. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  readonly status = 400;
}

/** Returns the values of all lines of a field, in order. `raw` is node:http's `rawHeaders`. */
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

/** Returns whether a field has a line; `name` in lower case. */
export function has(raw: readonly string[], name: string): boolean {
  return raw.some(
    (field, index) =>
      index % 2 === 0 && field.length === name.length && field.toLowerCase() === name,
  );
}

/** Returns the value of a field that may come once (RFC 9110 section 5.3); throws `BadRequest` if it comes twice. */
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

/** Returns the members of a list without quoted strings, such as a list of tokens, without empty members. */
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

/** The most members of a list: as many as recipients of structured fields must accept (RFC 9651 section 3.1). */
export const MOST_MEMBERS = 1024;

/**
 * Returns the members of a comma-separated list from all its lines, without empty members (RFC 9110 section 5.6.1.2).
 * A comma within a quoted-string separates nothing. Throws `BadRequest` for a quoted-string without an end, and for
 * more than 1,024 members (section 5.4).
 */
export function listMembers(values: readonly string[]): readonly string[] {
  const members = firstParts(values, membersIn, MOST_MEMBERS + 1);
  if (members.length > MOST_MEMBERS) throw new BadRequest('A list has more than 1,024 members.');
  return members;
}

/**
 * Returns the first 1,024 members of a list of preferences; a server may ignore the rest. Throws `BadRequest` for a
 * quoted-string without an end among them.
 */
export const firstMembers = (values: readonly string[]): readonly string[] =>
  firstParts(values, membersIn, MOST_MEMBERS);

/** Returns the first parts of a field's lines, up to a number. Further parts are not read. */
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
