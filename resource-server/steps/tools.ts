import { admitJudged } from '#shared/auth/judge/admit.ts';
import type { ToolScopes } from '#shared/auth/judge/tool-scopes.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { contentDigest, wholeContent } from '#shared/server/content/content.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import type { Exchange, Passed, Step } from '../exchange/exchange.ts';
import { holderOf } from '../space/account.ts';
import type { Space } from '../space/spaces.ts';
import { createMessageReader } from './message-reader.ts';
import { createRefused, type RefusedParts } from './refused.ts';

/** Bytes of the longest message, equal to the limit of the MCP SDKs. */
const LONGEST = 4 * 1024 * 1024;

/** Other charsets could change the meaning: in UTF-7 a name may be spelled so that JSON in UTF-8 has another name. */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i;

/**
 * Checks that an admitted client has the scopes of the tools that its message calls (`tool:NAME` in `scopes`), beside
 * those of the method. Otherwise the answer is 403 with one challenge that names all scopes (RFC 6750 section 3.1). The
 * message is read completely before the application gets it. Content that another server could read differently is
 * refused.
 */
export function tools(parts: RefusedParts): Step {
  const refused = createRefused(parts);
  const reader = createMessageReader();

  async function judgeCalls(
    exchange: Exchange,
    space: Space,
    passed: Passed,
    needed: ToolScopes,
  ): Promise<ResourceAnswer | undefined> {
    const { request } = exchange;
    const content = await messageOf(exchange);
    if (content.length === 0) return undefined;
    const holder = holderOf(passed.principal, exchange.asked().peer.address);
    const calls = await reader.read(holder, content, needed);
    if ('malformed' in calls) throw new BadRequest(`The message is not JSON: ${calls.malformed}.`);
    if ('reason' in calls) throw new HttpError(calls.status, calls.reason);
    const more = calls.scopes;
    if (more.length === 0) return undefined;
    const scopes = (method: string) => [...new Set([...space.scopes(method), ...more])];
    const { outcome, noted } = admitJudged({ ...space, scopes }, exchange.asked(), passed);
    if (outcome.kind === 'pass') return undefined;
    note(request, noted);
    if (outcome.kind === 'absent') throw notFound();
    return refused(exchange, space, outcome);
  }

  return (exchange) => {
    const { space, passed } = exchange;
    if (space?.tools === undefined || passed === undefined) return undefined;
    return judgeCalls(exchange, space, passed, space.tools);
  };
}

/** Returns the message in the request. Empty: there is none. */
async function messageOf(exchange: Exchange): Promise<Buffer> {
  const { request } = exchange;
  const { field, peer } = exchange.asked();
  // The content is kept for the application, within the limit of all such requests together.
  await contentDigest(request, 'sha256', { address: peer.address, limit: LONGEST });
  const content = await wholeContent(request, LONGEST, tooLong);
  if (content.length === 0) return content;
  if (field('content-encoding') !== undefined || !JSON_TYPE.test(field('content-type') ?? '')) {
    throw new HttpError(415, 'A message is application/json, in UTF-8, without a content coding.');
  }
  return content;
}

const tooLong = () => new HttpError(413, `A message has at most ${LONGEST} bytes.`);
