import type { Answer, Fields } from '#shared/http/answer.ts';
import type { Decide } from './decide.ts';
import type { Verdict } from './guard.ts';
import { seenByFetch } from './seen.ts';

function headersOf(fields: Fields): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(fields)) {
    for (const value of [values].flat()) headers.append(name, value);
  }
  return headers;
}

/** The answer to HEAD has no content (RFC 9110 section 9.3.2). */
export const responseOf = ({ status, fields, body }: Answer, method = 'GET'): Response =>
  new Response(method === 'HEAD' ? null : (body ?? null), { status, headers: headersOf(fields) });

export function judgeBy(decide: Decide) {
  return async (request: Request): Promise<Verdict> => {
    const decision = await decide(seenByFetch(request));
    if (!decision.ok) {
      return { ok: false, response: responseOf(decision.answer, request.method) };
    }
    const { principal, fields } = decision;
    return { ok: true, principal, headers: headersOf(fields) };
  };
}
