import type { Awaitable } from '#shared/base/awaitable.ts';
import { parseStrictJson } from '#shared/base/strict-json.ts';
import { type Answer, HttpError, UNSTORED } from '#shared/http/answer.ts';
import { type Ban, parseBan, toBan } from '#shared/http/ban-rule.ts';
import { BadRequest, lines, single } from '#shared/http/fields.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { type Invalidations, LONGEST_INVALIDATION } from '#shared/stores/cache/invalidations.ts';
import { isJson } from '../../answers/media-type.ts';
import type { JudgeAgain } from '../../exchange/under-way.ts';

export interface PurgeParts {
  /** The URL of the space, as the feed names it. */
  readonly space: string;
  /** Removes all answers of a target from this process, or marks them as stale. Resolves to their number. */
  readonly evict: (target: string, soft: boolean) => Awaitable<number>;
  readonly invalidations: Pick<Invalidations, 'add'>;
}

/**
 * Answers PURGE and BAN. `target`: path and query as in the cache's keys. `judgeAgain`: absent if the request was not
 * authenticated.
 */
export type Purge = (
  request: AnyRequest,
  target: string,
  judgeAgain?: JudgeAgain,
) => Promise<Answer>;

/**
 * PURGE and BAN answer when the feed has the entry. From then on no server of the store uses the answers that it names.
 */
export function createPurge({ space, evict, invalidations }: PurgeParts): Purge {
  async function purge(request: AnyRequest, target: string): Promise<Answer> {
    const soft = isSoft(request);
    if (target.length > LONGEST_INVALIDATION) {
      throw new HttpError(414, `No address of more than ${LONGEST_INVALIDATION} bytes is kept.`);
    }
    // Removes and counts this process's answers before its feed removes them.
    const evicted = await evict(target, soft);
    await invalidations.add([{ space, kind: 'target', value: target, soft }]);
    if (evicted > 0) return json({ evicted, soft });
    throw new HttpError(
      404,
      'This server had nothing of this address. The other servers no longer use their stored answers.',
    );
  }

  async function ban(request: AnyRequest, judgeAgain?: JudgeAgain): Promise<Answer> {
    const { rule, soft: told } = await receiveBan(request);
    await judgeAgain?.();
    const soft = isSoft(request) || told;
    await invalidations.add([{ space, kind: 'ban', value: JSON.stringify(rule), soft }]);
    return json({ banned: rule, soft });
  }

  return (request, target, judgeAgain) =>
    request.method === 'PURGE' ? purge(request, target) : ban(request, judgeAgain);
}

function json(content: object): Answer {
  const fields = { ...UNSTORED, 'Content-Type': 'application/json' };
  return { status: 200, fields, body: JSON.stringify(content) };
}

/** A boolean (RFC 8941 section 3.3.6), or 1 as clients of other caches send it. */
const SOFT = new Map([
  ['?1', true],
  ['1', true],
  ['?0', false],
  ['0', false],
]);

function isSoft({ rawHeaders }: AnyRequest): boolean {
  const value = single(rawHeaders, 'soft-purge') ?? '?0';
  const soft = SOFT.get(value.trim());
  if (soft === undefined) throw new BadRequest('Soft-Purge is ?1 or ?0.');
  return soft;
}

/** Reads a ban from the field or from the content, but not from both. Throws `BadRequest`, `HttpError` 413 and 415. */
async function receiveBan(request: AnyRequest): Promise<Ban> {
  const field = lines(request.rawHeaders, 'ban');
  const content = await wholeContent(request, LONGEST_INVALIDATION, tooLong);
  if (field.length > 0 === content.length > 0) {
    throw new BadRequest(
      'Say what to ban, either in a field such as Ban: path="/images/*" or in JSON such as {"tag":"news"}.',
    );
  }
  if (content.length === 0) return parseBan(field);
  const type = single(request.rawHeaders, 'content-type') ?? '';
  if (!isJson(type) || single(request.rawHeaders, 'content-encoding') !== undefined) {
    throw new HttpError(415, 'A ban in content is application/json, without a content coding.', {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
    });
  }
  return toBan(fromJson(content));
}

function fromJson(content: Buffer): unknown {
  try {
    return parseStrictJson(content);
  } catch {
    throw new BadRequest('The content is not JSON, or has a member twice.');
  }
}

const tooLong = () => new HttpError(413, `A ban has at most ${LONGEST_INVALIDATION} bytes.`);
