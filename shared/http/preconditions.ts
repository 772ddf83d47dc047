import { parseHttpDate } from './date.ts';
import { ENTITY_TAG, type EntityTag, parseEntityTag, strongMatch, weakMatch } from './etag.ts';
import { COMMAS, Scanner } from './scanner.ts';

/** The conditional fields of a request; several lines of one field are joined with `, `. */
export interface Conditions {
  readonly method: string;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly ifModifiedSince?: string | undefined;
  readonly ifUnmodifiedSince?: string | undefined;
}

/** The present selected representation. */
export interface Current {
  readonly etag: EntityTag;
  /** Milliseconds since the epoch; absent if no modification date is known. */
  readonly modified?: number;
}

/** Methods that select no representation, so that conditions are ignored (RFC 9110 section 13.2.1). */
const UNCONDITIONAL: ReadonlySet<string> = new Set(['CONNECT', 'OPTIONS', 'TRACE']);

/** Methods whose answer can be 304 (RFC 9110 section 13.1.2, RFC 10008 section 2.6). */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY']);

const REST_OF_MEMBER = /[^,]+/y;
const ASTERISK = /\*/y;

/** The members of `"*" / #entity-tag`. */
interface Tags {
  readonly tags: readonly EntityTag[];
  /** True if `*` is a member. */
  readonly any: boolean;
  /** True if the whole list is well-formed. */
  readonly sound: boolean;
}

function parseTags(value: string): Tags {
  const scanner = new Scanner(value);
  const tags: EntityTag[] = [];
  let any = false;
  let sound = true;
  scanner.read(COMMAS);
  while (!scanner.done) {
    const tag = parseEntityTag(scanner.read(ENTITY_TAG) ?? '');
    if (tag !== undefined) tags.push(tag);
    else if (scanner.read(ASTERISK) !== undefined) any = true;
    if (scanner.read(COMMAS) === undefined && !scanner.done) {
      sound = false;
      scanner.read(REST_OF_MEMBER);
      scanner.read(COMMAS);
    }
  }
  return { tags, any, sound: sound && (!any || value === '*') };
}

/**
 * Decides a conditional request in the order of RFC 9110 section 13.2.2. `current` is undefined if the target has no
 * representation; `now` is in milliseconds since the epoch.
 *
 * A malformed entity tag in a list matches no state of the resource. So If-Match with it fails (section 13.1.1), and
 * If-None-Match compares only the remaining tags (section 13.1.2). A date that is malformed, or that has no date to
 * be compared with, is ignored (sections 13.1.3 and 13.1.4). Call this only if the answer without conditions would be
 * 2xx or 412.
 */
export function evaluatePreconditions(
  { method, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince }: Conditions,
  current: Current | undefined,
  now: number,
): 'proceed' | 304 | 412 {
  if (UNCONDITIONAL.has(method)) return 'proceed';
  const reading = READING.has(method);
  const listed = ({ tags, any }: Tags, matches: typeof strongMatch) =>
    current !== undefined && (any || tags.some((tag) => matches(tag, current.etag)));
  // Last-Modified has whole seconds, so whole seconds are compared.
  const modified =
    current?.modified === undefined ? undefined : Math.floor(current.modified / 1000);
  const unchangedSince = (date: string) => {
    const since = parseHttpDate(date, now);
    return since === undefined || modified === undefined ? undefined : modified <= since / 1000;
  };

  if (ifMatch !== undefined) {
    const match = parseTags(ifMatch);
    if (!match.sound || !listed(match, strongMatch)) return 412;
  } else if (ifUnmodifiedSince !== undefined && unchangedSince(ifUnmodifiedSince) === false) {
    return 412;
  }
  if (ifNoneMatch !== undefined) {
    if (listed(parseTags(ifNoneMatch), weakMatch)) return reading ? 304 : 412;
  } else if (reading && ifModifiedSince !== undefined && unchangedSince(ifModifiedSince) === true) {
    return 304;
  }
  return 'proceed';
}
