import type { Decide } from './decide.ts';
import type { FastifyHook, Guarded } from './frameworks.ts';
import { seenByNode } from './seen.ts';

export function fastifyHook(decide: Decide): FastifyHook {
  return async (request, reply) => {
    const { originalUrl, raw } = request;
    const { method, rawHeaders } = raw;
    const decision = await decide(seenByNode({ method, originalUrl, rawHeaders }, raw));
    if (decision.ok) {
      reply.headers(decision.fields);
      (request as Partial<Guarded>).auth = decision.principal;
      return undefined;
    }
    const { status, fields, body } = decision.answer;
    reply.code(status);
    reply.headers(fields);
    reply.send(body);
    // Fastify then sends this reply and calls no handler.
    return reply;
  };
}
