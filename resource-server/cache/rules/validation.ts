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

/** The conditions of a request are about what the client has. The cache replaces them when it asks for itself. */
export const CLIENT_CONDITIONS: ReadonlySet<string> = new Set([
  'if-none-match',
  'if-modified-since',
  'if-range',
  'range',
]);

/** The most octets of entity tags in one validation request, without the first tag. Servers refuse long fields. */
const TAGS = 2048;

/**
 * The conditions by which the cache asks whether its stored answers are current (RFC 9111 section 4.3.1). The answer that
 * it would use comes first. Empty: no stored answer has a validator.
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
 * Which of the answers that could have been chosen a 304 is about (RFC 9111 section 4.3.4). None: it says nothing of
 * them, and what it says must not be used; the application has to be asked without conditions.
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
  // The cache asked about one variant alone.
  return variants.length === 1 ? variants : [];
}

function newest(variants: readonly Stored[]): readonly Stored[] {
  return variants.toSorted((one, other) => dateOf(other) - dateOf(one)).slice(0, 1);
}

/**
 * They tell what was stored (RFC 9111 section 3.2): the octets are those that they describe, whatever a 304 says,
 * which has none of its own.
 */
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
 * A stored answer after a 304, or a 200 to HEAD, said that it is current (RFC 9111 sections 3.2, 4.3.4 and 4.3.5).
 * Whether it may be stored any longer is for `mayStore` to say, since what it was told may be another thing now.
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
 * Decides by an answer to HEAD about a stored one to GET (RFC 9111 section 4.3.5). `length`: the value of
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
