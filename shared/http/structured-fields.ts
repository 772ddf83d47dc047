import { Scanner } from './scanner.ts';

/** A bare item with its parameters, or an inner list of such items (RFC 8941 sections 3.1.1, 3.1.2 and 3.3). */
export type Member = Bare & { readonly params: Params };

export type Item = Exclude<Member, { type: 'inner-list' }>;

export type BareItem =
  /** A date is in seconds since the epoch (RFC 9651 section 3.3.7). */
  | { readonly type: 'integer' | 'decimal' | 'date'; readonly value: number }
  /** A display string may have any character (RFC 9651 section 3.3.8). */
  | { readonly type: 'string' | 'token' | 'display-string'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Buffer }
  | { readonly type: 'boolean'; readonly value: boolean };

type Bare = BareItem | { readonly type: 'inner-list'; readonly value: readonly Item[] };

export type Params = ReadonlyMap<string, BareItem>;

export type Dictionary = ReadonlyMap<string, Member>;

/**
 * The most items, inner lists and parameters of a field together (RFC 9110 section 5.4). Recipients must accept 1,024
 * members, 256 items of an inner list and 256 parameters (RFC 9651 sections 3.1 and 3.2).
 */
const MOST = 4096;

/** Reads a structured field of at most `MOST` items, inner lists and parameters. */
class FieldScanner extends Scanner {
  #left = MOST;

  /** Counts another item; returns false if there are too many. */
  takes(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}

const KEY = /[a-z*][a-z0-9_.*-]*/y;
const EQUALS = /=/y;
const SPACES = / */y;
const SPACES_AT_LEAST = / +/y;
const SEMICOLON = /; */y;
const OWS = /[ \t]*/y;
const COMMA = /[ \t]*,[ \t]*/y;
const OPEN = /\( */y;
const CLOSE = /\)/y;

/** The form of each type, in an order in which no form hides a later one (RFC 9651 section 4.2.3.1). */
const BARE_ITEMS: readonly (readonly [RegExp, (text: string) => BareItem | undefined])[] = [
  [/-?\d{1,12}\.\d{1,3}/y, (text) => ({ type: 'decimal', value: Number(text) })],
  [/-?\d{1,15}/y, (text) => ({ type: 'integer', value: Number(text) })],
  [
    /"(?:[ !\x23-\x5b\x5d-\x7e]|\\["\\])*"/y,
    (text) => ({ type: 'string', value: text.slice(1, -1).replaceAll(/\\(.)/g, '$1') }),
  ],
  [/[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*/y, (text) => ({ type: 'token', value: text })],
  [
    /:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?:/y,
    (text) => ({ type: 'bytes', value: Buffer.from(text.slice(1, -1), 'base64') }),
  ],
  [/\?[01]/y, (text) => ({ type: 'boolean', value: text === '?1' })],
  [/@-?\d{1,15}/y, (text) => ({ type: 'date', value: Number(text.slice(1)) })],
  [/%"(?:[ !#$&-~]|%[\da-f]{2})*"/y, displayString],
];

/** Reads a display string (RFC 9651 section 4.2.10). Returns undefined if its octets are not UTF-8. */
function displayString(text: string): BareItem | undefined {
  try {
    return { type: 'display-string', value: decodeURIComponent(text.slice(2, -1)) };
  } catch {
    return undefined;
  }
}

/**
 * Reads a Dictionary (RFC 8941 section 4.2.2) from the lines of its field, joined with commas. If a key comes twice,
 * the last member applies. Returns undefined if the field is malformed, or has more than 4,096 items and parameters:
 * section 4.2 requires that all of it is then ignored.
 */
export const parseDictionary = (value: string): Dictionary | undefined =>
  dictionaryIn(value, 'last');

/** Reads a Dictionary in the same way, but also returns undefined if a key or a parameter comes twice. */
export const parseUniqueDictionary = (value: string): Dictionary | undefined =>
  dictionaryIn(value, 'none');

/** How a repeated key is handled: the last applies, or the field is malformed. */
type Repeated = 'last' | 'none';

function dictionaryIn(value: string, repeated: Repeated): Dictionary | undefined {
  const scanner = new FieldScanner(value);
  const members = new Map<string, Member>();
  scanner.read(SPACES);
  while (!scanner.done) {
    const key = scanner.read(KEY);
    const member = key === undefined ? undefined : readMember(scanner, repeated);
    if (key === undefined || member === undefined) return undefined;
    if (repeated === 'none' && members.has(key)) return undefined;
    members.set(key, member);
    if (!movedOn(scanner)) return undefined;
  }
  return members;
}

/**
 * Reads a List (RFC 8941 section 4.2.1) from the lines of its field, joined with commas. Returns undefined if it is
 * malformed, or has more than 4,096 items and parameters.
 */
export function parseList(value: string): readonly Member[] | undefined {
  const scanner = new FieldScanner(value);
  const members: Member[] = [];
  scanner.read(SPACES);
  while (!scanner.done) {
    const member = readItemOrList(scanner, 'last');
    if (member === undefined) return undefined;
    members.push(member);
    if (!movedOn(scanner)) return undefined;
  }
  return members;
}

/**
 * Moves to the next member, or to the end. Returns false at any other text, or at a comma without a member after it.
 */
function movedOn(scanner: FieldScanner): boolean {
  if (scanner.read(COMMA) !== undefined) return !scanner.done;
  scanner.read(OWS);
  return scanner.done;
}

/** Reads the member after a key. A key without a value has the value true. */
function readMember(scanner: FieldScanner, repeated: Repeated): Member | undefined {
  if (scanner.read(EQUALS) === undefined) {
    return withParams(scanner, { type: 'boolean', value: true }, repeated);
  }
  return readItemOrList(scanner, repeated);
}

function readItemOrList(scanner: FieldScanner, repeated: Repeated): Member | undefined {
  if (scanner.read(OPEN) === undefined) return readItem(scanner, repeated);
  const items: Item[] = [];
  while (scanner.read(CLOSE) === undefined) {
    const item = readItem(scanner, repeated);
    if (item === undefined) return undefined;
    items.push(item);
    if (scanner.read(SPACES_AT_LEAST) === undefined) {
      if (scanner.read(CLOSE) === undefined) return undefined;
      break;
    }
  }
  return withParams(scanner, { type: 'inner-list', value: items }, repeated);
}

function readItem(scanner: FieldScanner, repeated: Repeated): Item | undefined {
  const bare = readBareItem(scanner);
  return bare && withParams(scanner, bare, repeated);
}

function readBareItem(scanner: FieldScanner): BareItem | undefined {
  for (const [pattern, read] of BARE_ITEMS) {
    const text = scanner.read(pattern);
    if (text !== undefined) return read(text);
  }
  return undefined;
}

/** RFC 8941 section 4.2.3.2. */
function withParams<T extends Bare>(
  scanner: FieldScanner,
  bare: T,
  repeated: Repeated,
): (T & { readonly params: Params }) | undefined {
  const params = new Map<string, BareItem>();
  if (!scanner.takes()) return undefined;
  while (scanner.read(SEMICOLON) !== undefined) {
    const key = scanner.takes() ? scanner.read(KEY) : undefined;
    if (key === undefined || (repeated === 'none' && params.has(key))) return undefined;
    const valued = scanner.read(EQUALS) !== undefined;
    const value = valued ? readBareItem(scanner) : ({ type: 'boolean', value: true } as const);
    if (value === undefined) return undefined;
    params.set(key, value);
  }
  return { ...bare, params };
}
