import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Decide } from './decide.ts';
import type { Guarded, NodeMiddleware, NodeResponse } from './frameworks.ts';
import { seenByNode } from './seen.ts';

function send(method: string, response: NodeResponse, { status, fields, body }: Answer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
  // HEAD gets no content (RFC 9110 section 9.3.2).
  response.end(method === 'HEAD' ? undefined : body);
}

export function nodeMiddleware(decide: Decide): NodeMiddleware {
  return (request, response, next) => {
    const seen = seenByNode(request);
    void andThen(decide(seen), (decision): Awaitable<void> => {
      // Whoever sets a deadline has answered meanwhile.
      if (response.headersSent) return undefined;
      if (!decision.ok) return send(seen.method, response, decision.answer);
      for (const [name, value] of Object.entries(decision.fields)) response.setHeader(name, value);
      (request as Guarded).auth = decision.principal;
      return next();
    });
  };
}
