import { Http2ServerResponse } from 'node:http2';
import { finished, Readable } from 'node:stream';
import Koa from 'koa';
import type { Seal } from '#shared/auth/scheme.ts';
import { allow } from '#shared/http/methods.ts';
import type { Log } from '#shared/base/log.ts';
import { type Fields, methodNotAllowed, notFound } from '#shared/http/answer.ts';
import { errorAnswer, send } from '#shared/server/answer.ts';
import { noteError } from '#shared/server/front-door.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message.ts';
import { unstored } from '#shared/server/unstored.ts';
import { accepted, optionsFields } from '../options.ts';
import type { Space } from '../spaces.ts';
import { traceAnswer } from '../trace.ts';
import type { ResourceContext, Resources, Visit } from './resource.ts';
import { sealAnswer, sealedAnswer } from './seal.ts';

/** A visit, what its space serves, and the fields that every answer to it gets. */
export interface Scene extends Visit {
  /** Undefined: nothing. */
  readonly resources: Resources | undefined;
  readonly fields: Fields;
  /** Proves the content of every answer to it. */
  readonly seal?: Seal<Fields>;
}

export type Stage = (request: AnyRequest, response: AnyResponse, scene: Scene) => void;

/** Runs the methods of resources under Koa. The scene's fields win over those of a handler. */
export function createStage(log: Log): Stage {
  // Koa takes a request and a response only: what was decided before travels beside them.
  const scenes = new WeakMap<AnyRequest, Scene>();
  const koa = new Koa<Visit>();
  koa.on('error', (error: Error) => log.warn('response.broken', { reason: error.message }));
  koa.use(async (context) => {
    const { req: request, res: response } = context;
    const scene = scenes.get(request);
    if (scene === undefined) throw new Error('a request came to the stage without a scene');
    const { space, fields, seal } = scene;
    context.state = scene;
    try {
      await perform(context, scene);
      const proof = seal && sealAnswer(context, seal);
      setFields(context, variance(space));
      setFields(context, { ...fields, ...proof });
    } catch (error) {
      noteError(request, error, log);
      const { fields: own, ...answer } = unstored(errorAnswer(error));
      context.respond = false;
      for (const some of [own, variance(space), fields]) setFields(context, some);
      send(request, response, sealedAnswer(context, { ...answer, fields: {} }, seal));
    }
    endWithStream(response, context.body);
  });
  const run = koa.callback();
  return (request, response, scene) => {
    scenes.set(request, scene);
    void run(request, response);
  };
}

/**
 * The method, what OPTIONS says (RFC 9110 section 9.3.7), 405 with Allow (section 15.5.6) of what accepts
 * other methods, or 404.
 */
async function perform(context: ResourceContext, { resources, ...visit }: Scene): Promise<void> {
  const { method } = context;
  if (method === 'TRACE' && visit.space.trace) return trace(context, visit.space);
  const address = await resources?.find(visit);
  if (address === undefined) throw notFound();
  const methods = accepted(visit.space, address.methods);
  if (method === 'OPTIONS') {
    context.status = 204;
    setFields(context, optionsFields(methods, address.options));
  } else if (methods.includes(method)) {
    await address.perform(context);
  } else {
    throw address.missing ? notFound() : methodNotAllowed(allow(methods));
  }
}

async function trace(context: ResourceContext, space: Space): Promise<void> {
  const hidden = [space.trace?.hide ?? [], space.apiKeyField ?? []].flat();
  const { fields, body } = await traceAnswer(context.req, hidden);
  context.body = body;
  setFields(context, fields);
}

/** Closes the file of content over HTTP/2. Koa does not hear of a stream that was reset before it had any. */
function endWithStream(response: AnyResponse, content: unknown): void {
  if (!(response instanceof Http2ServerResponse && content instanceof Readable)) return;
  finished(response.stream, { readable: false }, () => content.destroy());
}

/** In trees of their own everybody finds something else at the same URL. */
function variance({ tree, apiKeyField }: Space): Fields {
  return tree === 'own' ? { Vary: ['Authorization', apiKeyField ?? []].flat() } : {};
}

/** Of what an answer varies by nothing is replaced (RFC 9110 section 12.5.5). */
function setFields(context: ResourceContext, fields: Fields): void {
  const { Vary: vary, ...others } = fields;
  if (vary !== undefined) context.vary([vary].flat());
  for (const [name, value] of Object.entries(others)) context.res.setHeader(name, value);
}
