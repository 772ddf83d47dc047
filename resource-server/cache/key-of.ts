import type { Awaitable } from '#shared/base/awaitable.ts';
import { HttpError } from '#shared/http/answer.ts';
import { heldContent } from '#shared/server/content/content.ts';
import { framingOf } from '../forwarding/fields.ts';
import type { Asking } from './asking.ts';
import { groupOf } from '#shared/http/spelling.ts';
import { queryDigest } from './rules/query-digest.ts';
import type { Rules } from './rules/rules.ts';
import type { CacheKey } from './rules/stored.ts';

/** Octets of a QUERY's content. */
const LONGEST_QUERY = 65_536;
/** Octets of the longest normalized target under which an answer is stored. */
export const LONGEST_TARGET = 4096;

/**
 * Returns the key of a GET, HEAD or QUERY, or the reason why it has none, as a token.
 * The key contains everything that an answer may depend on. Spellings of one target share an entry, so that one
 * invalidation removes them all, but each spelling has its own answers.
 */
export function keyOf(asking: Asking, rules: Rules): Awaitable<CacheKey | string> {
  const { request, target, whose } = asking;
  // A private cache separates answers by principal, so without a principal it stores nothing.
  if (!rules.shared && !whose) return 'nobody';
  if (request.headers.expect !== undefined) return 'connection';
  const framing = framingOf(request);
  const key = keyOfGet(asking, rules);
  if (Math.max(target.length, key.target.length) > LONGEST_TARGET) return 'long';
  if (request.method === 'QUERY') {
    const length = Number(framing);
    return length <= LONGEST_QUERY ? queryKey(key, { request }) : 'content';
  }
  // An application may read the content of a GET and answer by it, so only requests without content have a key.
  return framing === undefined || framing === '0' ? key : 'content';
}

/** Scheme and spelling are part of the key only if they differ from the usual ones. */
export function keyOfGet(
  { target, scheme, whose = '' }: Pick<Asking, 'target' | 'scheme' | 'whose'>,
  { shared, origin }: Rules,
): CacheKey {
  const group = groupOf(target);
  const spelled = group === target ? '' : target;
  const content = origin.startsWith(`${scheme}:`) ? spelled : `${scheme} ${target}`;
  return { target: group, whose: shared ? '' : whose, content };
}

async function queryKey(key: CacheKey, { request }: Pick<Asking, 'request'>): Promise<CacheKey> {
  const content = await heldContent(request, LONGEST_QUERY, tooLong);
  const digest = queryDigest(content, request.rawHeaders);
  return { ...key, content: `QUERY ${digest} ${key.content}` };
}

const tooLong = () => new HttpError(413, `A QUERY has at most ${LONGEST_QUERY} bytes here.`);
