import { allow, METHODS } from '#shared/http/methods.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { traceAnswer } from '../space/trace.ts';

/** All methods except the preface of HTTP/2. */
const ALLOW = allow([...METHODS.keys()].filter((method) => method !== 'PRI'));

/** The proxy's own answer to TRACE or OPTIONS when Max-Forwards ends at it (RFC 9110 section 7.6.2). */
export async function answerHere(request: AnyRequest): Promise<Answer> {
  return request.method === 'OPTIONS'
    ? { status: 204, fields: { Allow: ALLOW } }
    : traceAnswer(request);
}
