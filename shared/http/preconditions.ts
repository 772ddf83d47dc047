import { parseHttpDate } from './date.ts';
import { ENTITY_TAG, type EntityTag, parseEntityTag, strongMatch, weakMatch } from './etag.ts';
import { COMMAS, Scanner } from './scanner.ts';

/** The conditional fields of a request; several lines of one are joined with `, `. */
export interface Conditions {
  readonly method: string;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly ifModifiedSince?: string | undefined;
  readonly ifUnmodifiedSince?: string | undefined;
}

/** The selected representation as it is now. */
export interface Current {
  readonly etag: EntityTag;
  /** Milliseconds since the epoch; absent: no modification date is known. */
  readonly modified?: number;
}

/** Methods that select no representation: conditions are ignored (RFC 9110 section 13.2.1). */
const UNCONDITIONAL: ReadonlySet<string> = new Set(['CONNECT', 'OPTIONS', 'TRACE']);

/** Methods whose answer can be 304 (RFC 9110 section 13.1.2, RFC 10008 section 2.6). */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY']);

/** `"*" / #entity-tag`; undefined when malformed. */
function parseTags(value: string): '*' | EntityTag[] | undefined {
  if (value === '*') return '*';
  const scanner = new Scanner(value);
  const tags: EntityTag[] = [];
  scanner.read(COMMAS);
  while (!scanner.done) {
    const tag = parseEntityTag(scanner.read(ENTITY_TAG) ?? '');
    if (tag === undefined) return undefined;
    tags.push(tag);
    if (scanner.read(COMMAS) === undefined && !scanner.done) return undefined;
  }
  return tags;
}

/**
 * Decides a conditional request in the order of RFC 9110 section 13.2.2. `current` is undefined
 * when the target has no representation; `now` is milliseconds since the epoch. 400: a list of
 * entity tags is malformed. A date that is malformed or has nothing to be compared with is ignored
 * (sections 13.1.3 and 13.1.4). Ask only where the answer without conditions would be 2xx or 412.
 */
export function evaluatePreconditions(
  { method, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince }: Conditions,
  current: Current | undefined,
  now: number,
): 'proceed' | 304 | 412 | 400 {
  if (UNCONDITIONAL.has(method)) return 'proceed';
  const reading = READING.has(method);
  const match = ifMatch === undefined ? [] : parseTags(ifMatch);
  const noneMatch = ifNoneMatch === undefined ? [] : parseTags(ifNoneMatch);
  if (match === undefined || noneMatch === undefined) return 400;

  const listed = (tags: '*' | EntityTag[], matches: typeof strongMatch) =>
    current !== undefined && (tags === '*' || tags.some((tag) => matches(tag, current.etag)));
  // Last-Modified has whole seconds, so the comparison has them too.
  const modified =
    current?.modified === undefined ? undefined : Math.floor(current.modified / 1000);
  const unchangedSince = (date: string) => {
    const since = parseHttpDate(date, now);
    return since === undefined || modified === undefined ? undefined : modified <= since / 1000;
  };

  if (ifMatch !== undefined) {
    if (!listed(match, strongMatch)) return 412;
  } else if (ifUnmodifiedSince !== undefined && unchangedSince(ifUnmodifiedSince) === false) {
    return 412;
  }
  if (ifNoneMatch !== undefined) {
    if (listed(noneMatch, weakMatch)) return reading ? 304 : 412;
  } else if (reading && ifModifiedSince !== undefined && unchangedSince(ifModifiedSince) === true) {
    return 304;
  }
  return 'proceed';
}
