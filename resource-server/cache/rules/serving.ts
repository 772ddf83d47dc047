import { parseEntityTag, strongMatch } from '#shared/http/etag.ts';
import { lines as valuesIn } from '#shared/http/fields.ts';
import { evaluatePreconditions } from '#shared/http/preconditions.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { contentRange, parseRanges, type Range } from '../../answers/range.ts';
import type { Stored } from './stored.ts';
import { parseDate } from './dates.ts';
import { dateOf } from './freshness.ts';
import { onlyOf, without } from './lines.ts';
import type { Asked } from './rules.ts';
import { validatorsOf } from './validators.ts';

/** The answer to one request from a stored one, without Content-Length and Cache-Status. */
export interface Served {
  readonly status: number;
  readonly lines: Lines;
  /** `none`: a 304 or 416 without content. Several ranges: one `multipart/byteranges`, which needs its own type. */
  readonly content: 'none' | 'whole' | readonly Range[];
}

/**
 * Makes the answer to one request from a stored answer. `age`: in seconds; undefined for the client whose request
 * fetched the answer, which keeps its own Age. The method must be one that `stored` may answer. The content of HEAD is
 * not sent.
 */
export function serve(
  stored: Stored,
  asked: Pick<Asked, 'method' | 'rawHeaders'>,
  age: number | undefined,
): Served {
  const lines: Lines =
    age === undefined ? stored.lines : [...stored.lines.filter(isNoAge), ['Age', String(age)]];
  if (stored.status !== 200) return { status: stored.status, lines, content: 'whole' };
  if (isNotModified(stored, asked)) {
    return { status: 304, lines: linesOf304(lines), content: 'none' };
  }
  return ranged(stored, asked, lines) ?? { status: 200, lines, content: 'whole' };
}

/** Whether a line is not `Age`, which described the age at the application. */
export const isNoAge = ([name]: Lines[number]) => name.length !== 3 || name.toLowerCase() !== 'age';

/** Evaluates If-None-Match, else If-Modified-Since (RFC 9111 section 4.3.2). Malformed conditions are ignored. */
function isNotModified(
  stored: Stored,
  { method, rawHeaders }: Pick<Asked, 'method' | 'rawHeaders'>,
): boolean {
  const tags = valuesIn(rawHeaders, 'if-none-match');
  const [since, ...more] = valuesIn(rawHeaders, 'if-modified-since');
  if (tags.length === 0 && since === undefined) return false;
  const listed = tags.join(', ');
  const { etag, modified: date } = validatorsOf(stored.lines);
  if (tags.length > 0 && etag === undefined) return listed === '*';
  const modified = parseDate(date, stored.received) ?? dateOf(stored);
  const conditions = {
    method,
    ifNoneMatch: tags.length > 0 ? listed : undefined,
    ifModifiedSince: more.length === 0 ? since : undefined,
  };
  const current = { etag: etag ?? NO_TAG, modified };
  return evaluatePreconditions(conditions, current, stored.received) === 304;
}

/** A tag that equals no other, so that only the date is compared. */
const NO_TAG = { weak: true, opaque: '' };

/** Fields that describe content, which a 304 does not send (RFC 9110 section 15.4.5). */
const OF_CONTENT =
  /^(?:content-(?:type|encoding|language|length|range|md5|digest|disposition)|repr-digest|digest|accept-ranges)$/i;

function linesOf304(lines: Lines): Lines {
  const hasTag = onlyOf(lines, 'etag') !== undefined;
  return lines.filter(
    ([name]) => !OF_CONTENT.test(name) && !(hasTag && name.toLowerCase() === 'last-modified'),
  );
}

/** Fields about the octets of the whole message, which a part of it must not have (RFC 9530 section 2). */
const OF_ALL_OCTETS = new Set(['content-md5', 'content-digest', 'content-range']);

/** Methods whose answers have ranges (RFC 9110 section 14.2, RFC 10008 section 2.8). */
const RANGED = new Set(['GET', 'QUERY']);

/** Returns the requested ranges of a whole answer. Undefined: the whole answer is sent. */
function ranged(
  stored: Stored,
  { method, rawHeaders }: Pick<Asked, 'method' | 'rawHeaders'>,
  lines: Lines,
): Served | undefined {
  const [range, ...more] = valuesIn(rawHeaders, 'range');
  const { length } = stored;
  if (range === undefined || more.length > 0 || !RANGED.has(method) || !length) return undefined;
  if (!valuesIn(rawHeaders, 'if-range').every((condition) => isCurrent(condition, stored))) {
    return undefined;
  }
  const parts = parseRanges(range, length);
  if (parts === undefined) return undefined;
  const [first, ...others] = parts;
  if (first === undefined) {
    return { status: 416, lines: [['Content-Range', `bytes */${length}`]], content: 'none' };
  }
  const kept = without(lines, OF_ALL_OCTETS);
  if (others.length > 0) {
    return { status: 206, lines: without(kept, TYPE), content: parts };
  }
  const described: Lines = [...kept, ['Content-Range', contentRange(first, length)]];
  return { status: 206, lines: described, content: parts };
}

const TYPE = new Set(['content-type']);

/** Whether If-Range (RFC 9110 section 13.1.5) holds: a strong tag, or a strong date (section 8.8.2.2), matches. */
function isCurrent(condition: string, stored: Stored): boolean {
  const { etag, modified } = validatorsOf(stored.lines);
  const tag = parseEntityTag(condition);
  if (tag !== undefined) return etag !== undefined && strongMatch(tag, etag);
  const date = parseDate(onlyOf(stored.lines, 'date'), stored.received);
  const time = parseDate(modified, stored.received);
  if (modified !== condition || date === undefined || time === undefined) return false;
  return date - time >= 1000;
}
