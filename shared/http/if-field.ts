import { ENTITY_TAG, type EntityTag, parseEntityTag } from './etag.ts';
import { Scanner } from './scanner.ts';

/** A state token or an entity tag that a resource is expected to have, or with `not` to lack. */
export type Condition = { readonly not: boolean } & (
  | { readonly token: string }
  | { readonly etag: EntityTag }
);

/** Conditions that must all be true of one resource. */
export interface StateList {
  /** The URI of the resource as it was sent; undefined: the target of the request. */
  readonly resource: string | undefined;
  readonly conditions: readonly Condition[];
}

/**
 * The most conditions of one field, against denial of service (RFC 9110 section 5.4): each may name a resource that is
 * looked up. A principal has at most 50 locks in a tree, so no client of ours needs as many.
 */
const MOST = 256;

/** RFC 4918 speaks of LWS; the line breaks of it have become spaces before a field is parsed. */
const LWS = /[ \t]*/y;
const NOT = /not/iy;
const OPEN = /\(/y;
const CLOSE = /\)/y;
const BEFORE_TAG = /\[/y;
const AFTER_TAG = /\]/y;
/** absolute-URI (RFC 3986 section 4.3), as far as its characters go: no fragment. */
const CODED_URL = /<[A-Za-z][A-Za-z0-9+.-]*:[!$-;=?-Z[\]_a-z~]*>/y;
/** Simple-ref (RFC 4918 section 8.3): an absolute-URI, or an absolute path with or without a query. */
const RESOURCE_TAG = /<(?:[A-Za-z][A-Za-z0-9+.-]*:|\/)[!$-;=?-Z[\]_a-z~]*>/y;

/**
 * The lists of an If field (RFC 4918 section 10.4.2), of which one must be true. Undefined if it is malformed or has
 * more than 256 conditions.
 */
export function parseIf(value: string): readonly StateList[] | undefined {
  const scanner = new Scanner(value);
  const lists: StateList[] = [];
  scanner.read(LWS);
  let resource = resourceTag(scanner);
  // Tagged and untagged lists do not mix.
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

/** `"(" 1*Condition ")"` and the white space after it; undefined also if it has more conditions than `room`. */
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

/** Coded-URL (RFC 4918 section 10.1), the value of Lock-Token; undefined when malformed. */
export function parseCodedUrl(value: string): string | undefined {
  const scanner = new Scanner(value);
  const url = scanner.read(CODED_URL)?.slice(1, -1);
  return scanner.done ? url : undefined;
}
