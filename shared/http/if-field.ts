import { ENTITY_TAG, type EntityTag, parseEntityTag } from './etag.ts';
import { Scanner } from './scanner.ts';

/** A state token or an entity tag that a resource is expected to have; with `not`, to lack. */
export type Condition = { readonly not: boolean } & (
  | { readonly token: string }
  | { readonly etag: EntityTag }
);

/** Conditions that must all be true of one resource. */
export interface StateList {
  /** The URI of the resource as it was sent; undefined for the target of the request. */
  readonly resource: string | undefined;
  readonly conditions: readonly Condition[];
}

/**
 * The most conditions in one field, against denial of service (RFC 9110 section 5.4): each may name a resource that
 * is looked up. A principal has at most 50 locks in a tree, so no normal client needs as many.
 */
const MOST = 256;

/** The white space that RFC 4918 calls LWS; its line breaks have become spaces before a field is parsed. */
const LWS = /[ \t]*/y;
const NOT = /not/iy;
const OPEN = /\(/y;
const CLOSE = /\)/y;
const BEFORE_TAG = /\[/y;
const AFTER_TAG = /\]/y;
/** Matches an absolute-URI (RFC 3986 section 4.3) by its characters, without a fragment. */
const CODED_URL = /<[A-Za-z][A-Za-z0-9+.-]*:[!$-;=?-Z[\]_a-z~]*>/y;
/** Matches a Simple-ref (RFC 4918 section 8.3): an absolute-URI, or an absolute path with or without a query. */
const RESOURCE_TAG = /<(?:[A-Za-z][A-Za-z0-9+.-]*:|\/)[!$-;=?-Z[\]_a-z~]*>/y;

/**
 * Returns the lists of an If field (RFC 4918 section 10.4.2), one of which must be true. Returns undefined if the
 * field is malformed or has more than 256 conditions.
 */
export function parseIf(value: string): readonly StateList[] | undefined {
  const scanner = new Scanner(value);
  const lists: StateList[] = [];
  scanner.read(LWS);
  let resource = resourceTag(scanner);
  // Tagged and untagged lists may not be mixed.
  const tagged = resource !== undefined;
  let room = MOST;
  for (;;) {
    const conditions = list(scanner, room);
    if (conditions === undefined) return undefined;
    room -= conditions.length;
    lists.push({ resource, conditions });
    if (scanner.done) return lists;
    if (tagged) resource = resourceTag(scanner) ?? resource;
  }
}

function resourceTag(scanner: Scanner): string | undefined {
  const tag = scanner.read(RESOURCE_TAG)?.slice(1, -1);
  scanner.read(LWS);
  return tag;
}

/**
 * Reads `"(" 1*Condition ")"` and the white space after it; returns undefined also if it has more conditions than
 * `room`.
 */
function list(scanner: Scanner, room: number): readonly Condition[] | undefined {
  if (scanner.read(OPEN) === undefined) return undefined;
  const conditions: Condition[] = [];
  do {
    scanner.read(LWS);
    const one = condition(scanner);
    if (one === undefined || conditions.length === room) return undefined;
    conditions.push(one);
    scanner.read(LWS);
  } while (scanner.read(CLOSE) === undefined);
  scanner.read(LWS);
  return conditions;
}

function condition(scanner: Scanner): Condition | undefined {
  const not = scanner.read(NOT) !== undefined;
  if (not) scanner.read(LWS);
  const token = scanner.read(CODED_URL)?.slice(1, -1);
  if (token !== undefined) return { not, token };
  if (scanner.read(BEFORE_TAG) === undefined) return undefined;
  const etag = parseEntityTag(scanner.read(ENTITY_TAG) ?? '');
  if (etag === undefined || scanner.read(AFTER_TAG) === undefined) return undefined;
  return { not, etag };
}

/** Returns the Coded-URL (RFC 4918 section 10.1) that is the value of Lock-Token; undefined if malformed. */
export function parseCodedUrl(value: string): string | undefined {
  const scanner = new Scanner(value);
  const url = scanner.read(CODED_URL)?.slice(1, -1);
  return scanner.done ? url : undefined;
}
