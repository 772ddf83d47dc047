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
  /** `none`: a 304, or a 416; several parts are one `multipart/byteranges`, which has a type of its own. */
  readonly content: 'none' | 'whole' | readonly Range[];
}

/**
 * `age` in seconds; undefined: the answer comes for this request, and says itself how old it is. The method is one
 * that `stored` may answer; of HEAD the content is not sent.
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

/** Whether a line is not `Age`, which says how old the answer was elsewhere. */
export const isNoAge = ([name]: Lines[number]) => name.length !== 3 || name.toLowerCase() !== 'age';

/** RFC 9111 section 4.3.2: If-None-Match, else If-Modified-Since; what is malformed asks nothing. */
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

/** Compared with no other: only the date was asked for. */
const NO_TAG = { weak: true, opaque: '' };

/** Metadata of what is not sent (RFC 9110 section 15.4.5). */
const OF_CONTENT =
  /^(?:content-(?:type|encoding|language|length|range|md5|digest|disposition)|repr-digest|digest|accept-ranges)$/i;

function linesOf304(lines: Lines): Lines {
  const hasTag = onlyOf(lines, 'etag') !== undefined;
  return lines.filter(
    ([name]) => !OF_CONTENT.test(name) && !(hasTag && name.toLowerCase() === 'last-modified'),
  );
}

/** They are about the octets of a message, which a part has not (RFC 9530 section 2). */
const OF_ALL_OCTETS = new Set(['content-md5', 'content-digest', 'content-range']);

/** RFC 9110 section 14.2, RFC 10008 section 2.8. */
const RANGED = new Set(['GET', 'QUERY']);

/** A part of a whole answer; undefined: all of it. */
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

/** If-Range (RFC 9110 section 13.1.5): a strong tag, or a date that is one (section 8.8.2.2). */
function isCurrent(condition: string, stored: Stored): boolean {
  const { etag, modified } = validatorsOf(stored.lines);
  const tag = parseEntityTag(condition);
  if (tag !== undefined) return etag !== undefined && strongMatch(tag, etag);
  const date = parseDate(onlyOf(stored.lines, 'date'), stored.received);
  const time = parseDate(modified, stored.received);
  if (modified !== condition || date === undefined || time === undefined) return false;
  return date - time >= 1000;
}
