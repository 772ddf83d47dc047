import type { Decide } from './decide.ts';
import type { KoaMiddleware } from './frameworks.ts';
import { seenByNode } from './seen.ts';

export function koaMiddleware(decide: Decide): KoaMiddleware {
  return async (context, next) => {
    const { method, originalUrl, req } = context;
    const { rawHeaders } = req;
    const decision = await decide(seenByNode({ method, originalUrl, rawHeaders }, req));
    if (decision.ok) {
      context.set({ ...decision.fields } as Record<string, string | string[]>);
      context.state.auth = decision.principal;
      await next();
      return;
    }
    const { status, fields, body } = decision.answer;
    context.status = status;
    context.set({ ...fields } as Record<string, string | string[]>);
    context.body = body;
  };
}
