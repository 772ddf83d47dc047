import { parseEntityTag, strongMatch } from '#shared/http/etag.ts';
import { single } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Validators } from './preconditions.ts';

/** A part of content: bytes from `first` to `last`, both included (RFC 9110 section 14.1.2). */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** Returns the length of a part in bytes. */
export function lengthOf({ first, last }: Range): number {
  return last - first + 1;
}

/** Returns the value of Content-Range (RFC 9110 section 14.4). `length`: of the whole content, in bytes. */
export function contentRange({ first, last }: Range, length: number): string {
  return `bytes ${first}-${last}/${length}`;
}

/** The most parts of one request, against denial of service (RFC 9110 section 17.15). */
const MOST = 32;

/**
 * Returns the parts of content that a request asks for, in order and without overlaps.
 * An empty list means the whole content: Range is absent or ignored (RFC 9110 section 14.2), or If-Range does not hold
 * (section 13.1.5). Throws `HttpError` 416 if no part can be satisfied. `length`: in bytes.
 */
export function rangesAsked(
  { rawHeaders }: Pick<AnyRequest, 'rawHeaders'>,
  current: Pick<Validators, 'etag'> & { readonly length: number },
): readonly Range[] {
  const range = single(rawHeaders, 'range');
  const condition = single(rawHeaders, 'if-range');
  // Empty content has no part, so Content-Range could not describe one.
  if (range === undefined || current.length === 0) return [];
  if (condition !== undefined && !isCurrent(condition, current.etag)) return [];
  const ranges = parseRanges(range, current.length);
  if (ranges?.length !== 0) return ranges ?? [];
  throw new HttpError(416, `The content has ${current.length} bytes.`, {
    'Content-Range': `bytes */${current.length}`,
  });
}

/**
 * True if If-Range is a strong validator that matches (RFC 9110 section 13.1.5). A date is not strong (section
 * 8.8.2.2), since a document may change twice within a second.
 */
function isCurrent(condition: string, etag: string): boolean {
  const tag = parseEntityTag(condition);
  return tag !== undefined && strongMatch(tag, { weak: false, opaque: etag });
}

/**
 * Returns the satisfiable ranges of a field. Returns undefined if the field is malformed or asks for too many ranges.
 */
export function parseRanges(value: string, length: number): readonly Range[] | undefined {
  const set = /^bytes=(.*)$/i.exec(value)?.[1] ?? '';
  const specs = set
    .split(',')
    .map((spec) => spec.trim())
    .filter((spec) => spec !== '');
  if (specs.length === 0 || specs.length > MOST) return undefined;
  const ranges = specs.map((spec) => parseRange(spec, length));
  if (!ranges.every((range) => range !== undefined)) return undefined;
  return apart(ranges.filter(({ first }) => first < length));
}

function parseRange(spec: string, length: number): Range | undefined {
  const [, from, to, suffix] = /^(?:(\d+)-(\d*)|-(\d+))$/.exec(spec) ?? [];
  if (suffix !== undefined)
    return { first: Math.max(length - Number(suffix), 0), last: length - 1 };
  if (from === undefined) return undefined;
  const first = Number(from);
  const last = to === '' ? Infinity : Number(to);
  return last < first ? undefined : { first, last: Math.min(last, length - 1) };
}

/** Merges ranges that overlap or touch, at the position of the first (RFC 9110 section 15.3.7.2). */
function apart(ranges: readonly Range[]): readonly Range[] {
  let kept: readonly Range[] = [];
  for (const range of ranges) {
    const near = kept.filter(
      ({ first, last }) => range.first <= last + 1 && first <= range.last + 1,
    );
    const joined = {
      first: Math.min(range.first, ...near.map(({ first }) => first)),
      last: Math.max(range.last, ...near.map(({ last }) => last)),
    };
    const [place = range] = near;
    kept = (near.length === 0 ? [...kept, range] : kept)
      .filter((other) => other === place || !near.includes(other))
      .map((other) => (other === place ? joined : other));
  }
  return kept;
}
