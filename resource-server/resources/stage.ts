import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import type { Seal } from '#shared/auth/scheme.ts';
import { allow } from '#shared/http/methods.ts';
import type { Log } from '#shared/log.ts';
import {
  errorAnswer,
  type Fields,
  methodNotAllowed,
  notFound,
  send,
} from '#shared/server/answer.ts';
import { noteError } from '#shared/server/front-door.ts';
import type { Methods, ResourceContext, Visit } from './resource.ts';
import { sealAnswer, sealedAnswer } from './seal.ts';

/** A visit, the methods of its address, and the fields that every answer to it gets. */
export interface Scene extends Visit {
  /** Undefined: there can be nothing at this address. */
  readonly methods: Methods | undefined;
  readonly fields: Fields;
  /** Proves the content of every answer to it. */
  readonly seal?: Seal<Fields>;
}

export type Stage = (request: IncomingMessage, response: ServerResponse, scene: Scene) => void;

/** Runs the methods of resources under Koa. The scene's fields win over those of a handler. */
export function createStage(log: Log): Stage {
  // Koa takes a request and a response only: what was decided before travels beside them.
  const scenes = new WeakMap<IncomingMessage, Scene>();
  const koa = new Koa<Visit>();
  koa.on('error', (error: Error) => log.warn('response.broken', { reason: error.message }));
  koa.use(async (context) => {
    const { req: request, res: response } = context;
    const scene = scenes.get(request);
    if (scene === undefined) throw new Error('a request came to the stage without a scene');
    const { fields, seal } = scene;
    context.state = scene;
    try {
      await perform(context, scene.methods);
      const proof = seal && sealAnswer(context, seal);
      for (const [name, value] of Object.entries({ ...fields, ...proof })) {
        response.setHeader(name, value);
      }
    } catch (error) {
      noteError(request, error, log);
      const answer = errorAnswer(error);
      context.respond = false;
      const whole = { ...answer, fields: { ...answer.fields, ...fields } };
      send(request, response, sealedAnswer(context, whole, seal));
    }
  });
  const run = koa.callback();
  return (request, response, scene) => {
    scenes.set(request, scene);
    void run(request, response);
  };
}

/** The method's handler, what OPTIONS says (RFC 9110 section 9.3.7), or 405 with Allow (section 15.5.6). */
async function perform(context: ResourceContext, methods: Methods | undefined): Promise<void> {
  if (methods === undefined) throw notFound();
  const handler = methods.get(context.method);
  if (handler !== undefined) return handler(context);
  if (context.method !== 'OPTIONS') throw methodNotAllowed(allow(methods.keys()));
  context.status = 204;
  context.set('Allow', allow(methods.keys()));
}
