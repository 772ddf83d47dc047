import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa, { type ParameterizedContext } from 'koa';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { type Answer, notFound } from '#shared/http/answer.ts';
import type { Target } from '#shared/http/target.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';

/** `origin`: the origin for which the page was requested. */
export type PageContext = ParameterizedContext<{ readonly origin: string }>;

/** A page for people: its method, its path and its answer. HEAD is answered like GET. */
export type PageRoute = readonly [
  method: 'GET' | 'POST',
  path: string,
  page: (context: PageContext) => Awaitable<Answer>,
];

interface Asked {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  readonly target: Target;
}

/** Runs the routes of pages. Their answers and errors are sent like all others. */
export function createPageRouter(routes: readonly PageRoute[]) {
  const router = new Router<PageContext['state']>({ sensitive: true, strict: true });
  for (const [method, path, page] of routes) router.register(path, [method], page);
  const methods = new Map<string, readonly string[]>();
  for (const { path, methods: of } of router.stack) {
    methods.set(String(path), [...(methods.get(String(path)) ?? []), ...of]);
  }
  const run = router.routes();
  const koa = new Koa();
  return {
    /** The methods that have a route, by path. */
    methods,
    /** Returns what the route returns. */
    async answer({ request, response, target }: Asked, origin: string): Promise<Answer> {
      const context = koa.createContext(request as IncomingMessage, response as ServerResponse);
      context.state['origin'] = origin;
      context['newRouterPath'] = target.path;
      const answer: unknown = await run(context as Parameters<typeof run>[0], () => {
        throw notFound();
      });
      return answer as Answer;
    },
  };
}
