import { allow, METHODS } from '#shared/http/methods.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { traceAnswer } from '../space/trace.ts';

/** All but the preface of HTTP/2. */
const ALLOW = allow([...METHODS.keys()].filter((method) => method !== 'PRI'));

/** What TRACE or OPTIONS is told by the proxy that it shall not pass (RFC 9110 section 7.6.2). */
export async function answerHere(request: AnyRequest): Promise<Answer> {
  return request.method === 'OPTIONS'
    ? { status: 204, fields: { Allow: ALLOW } }
    : traceAnswer(request);
}
