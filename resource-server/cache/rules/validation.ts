import { formatEntityTag, weakMatch } from '#shared/http/etag.ts';
import type { Lines } from '../../forwarding/fields.ts';
import type { Stored } from './stored.ts';
import { dateOf } from './freshness.ts';
import { keptLines } from './kept-lines.ts';
import { valuesOf, without } from './lines.ts';
import type { Asked, Given, Rules, Times } from './rules.ts';
import { tagsOf } from './tags.ts';
import { validatorsOf } from './validators.ts';
import { nominate, varyOf } from './vary.ts';

/** Conditional fields of a client, which describe the client's copy. The cache replaces them in its own requests. */
export const CLIENT_CONDITIONS: ReadonlySet<string> = new Set([
  'if-none-match',
  'if-modified-since',
  'if-range',
  'range',
]);

/** The most octets of entity tags after the first in one validation request, since servers refuse long fields. */
const TAGS = 2048;

/**
 * The conditions by which the cache validates its stored answers (RFC 9111 section 4.3.1), beginning with the answer
 * that it would use. Empty: no stored answer has a validator.
 */
export function conditionLines(variants: readonly Stored[]): Lines {
  const known = variants.map(({ lines }) => validatorsOf(lines));
  const tags = new Set<string>();
  let octets = 0;
  for (const { etag } of known) {
    const tag = etag && formatEntityTag(etag);
    if (tag === undefined || tags.has(tag)) continue;
    octets += tag.length;
    if (tags.size > 0 && octets > TAGS) break;
    tags.add(tag);
  }
  const modified = known.length === 1 ? known[0]?.modified : undefined;
  const conditions: Lines = [];
  if (tags.size > 0) conditions.push(['If-None-Match', [...tags].join(', ')]);
  if (modified !== undefined) conditions.push(['If-Modified-Since', modified]);
  return conditions;
}

/**
 * Returns the stored answers that a 304 confirms (RFC 9111 section 4.3.4). Empty: the 304 confirms none, so the cache
 * must ask the application again without conditions.
 */
export function validatedBy(lines: Lines, variants: readonly Stored[]): readonly Stored[] {
  const { etag, modified } = validatorsOf(lines);
  if (etag !== undefined) {
    const same = variants.filter((stored) => {
      const known = validatorsOf(stored.lines).etag;
      return known !== undefined && weakMatch(known, etag) && (etag.weak || !known.weak);
    });
    return etag.weak ? newest(same) : same;
  }
  if (modified !== undefined) {
    return newest(variants.filter((stored) => validatorsOf(stored.lines).modified === modified));
  }
  // Without a validator in the 304, only a single candidate can be meant.
  return variants.length === 1 ? variants : [];
}

function newest(variants: readonly Stored[]): readonly Stored[] {
  return variants.toSorted((one, other) => dateOf(other) - dateOf(one)).slice(0, 1);
}

/** Fields that describe the stored octets (RFC 9111 section 3.2), so a 304 does not change them. */
const OF_OCTETS = new Set([
  'content-length',
  'content-encoding',
  'content-range',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'etag',
]);

/**
 * Returns a stored answer after a 304, or a 200 to HEAD, confirmed it (RFC 9111 sections 3.2, 4.3.4 and 4.3.5). The new
 * fields may forbid storing it, so the caller asks `mayStore`.
 */
export function freshened(
  stored: Stored,
  given: Pick<Given, 'lines'>,
  { rawHeaders }: Pick<Asked, 'rawHeaders'>,
  times: Times,
  rules: Rules,
): Stored {
  const told = without(given.lines, OF_OCTETS);
  const replaced = new Set([...told.map(([name]) => name.toLowerCase()), 'age', 'date']);
  const lines = keptLines([...without(stored.lines, replaced), ...told], times, rules);
  const vary = nominate(varyOf(lines), rawHeaders, rules.made);
  return {
    ...stored,
    lines,
    tags: tagsOf(lines),
    ...(typeof vary !== 'string' && { vary }),
    requested: times.requested,
    received: times.received,
    outdated: false,
  };
}

/**
 * Decides by an answer to HEAD about a stored answer to GET (RFC 9111 section 4.3.5). `length`: the value of
 * Content-Length.
 */
export function verdictOfHead(
  stored: Stored,
  { status, lines, length }: Given & { readonly length: number | undefined },
): 'freshened' | 'outdated' | 'nothing' {
  if (status !== 200 || stored.status !== 200) return 'nothing';
  const isSame = ['etag', 'last-modified'].every((name) => {
    const told = valuesOf(lines, name);
    return told.length === 0 || told.join() === valuesOf(stored.lines, name).join();
  });
  const isAsLong = length === undefined || length === stored.length;
  return isSame && isAsLong ? 'freshened' : 'outdated';
}
