import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Decide } from './decide.ts';
import type {
  Guarded,
  NodeHandler,
  NodeMiddleware,
  NodeRequest,
  NodeResponse,
} from './frameworks.ts';
import { seenByNode } from './seen.ts';

function send(method: string, response: NodeResponse, { status, fields, body }: Answer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
  // The answer to HEAD has no content (RFC 9110 section 9.3.2).
  response.end(method === 'HEAD' ? undefined : body);
}

export function nodeMiddleware(decide: Decide): NodeMiddleware {
  return (request, response, next) => {
    const seen = seenByNode(request, request);
    void andThen(decide(seen), (decision): Awaitable<void> => {
      // The application may have answered meanwhile, after a deadline of its own.
      if (response.headersSent) return undefined;
      if (!decision.ok) return send(seen.method, response, decision.answer);
      for (const [name, value] of Object.entries(decision.fields)) response.setHeader(name, value);
      (request as Partial<Guarded>).auth = decision.principal;
      return next();
    });
  };
}

/** Returns the middleware, or the listener around a handler. */
export function nodeGuard(decide: Decide) {
  const middleware = nodeMiddleware(decide);
  function node(): NodeMiddleware;
  function node<Q extends NodeRequest, S extends NodeResponse>(
    handler: NodeHandler<Q & Guarded, S>,
  ): NodeHandler<Q, S>;
  function node<Q extends NodeRequest, S extends NodeResponse>(
    handler?: NodeHandler<Q & Guarded, S>,
  ): NodeMiddleware | NodeHandler<Q, S> {
    if (handler === undefined) return middleware;
    return (request: Q, response: S) =>
      middleware(request, response, () => handler(request as Q & Guarded, response));
  }
  return node;
}
