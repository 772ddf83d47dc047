import { Http2ServerResponse } from 'node:http2';
import { finished, Readable } from 'node:stream';
import Koa from 'koa';
import type { Log } from '#shared/base/log.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message.ts';
import type { ResourceAnswer } from './resources/resource.ts';

/**
 * Koa's one job: to write answers, whose content may be a stream. What breaks off after it has begun is
 * logged, and the connection ends.
 */
export function onKoa(
  answerTo: (request: AnyRequest) => Promise<ResourceAnswer>,
  log: Log,
): (request: AnyRequest, response: AnyResponse) => Promise<void> {
  const koa = new Koa();
  koa.on('error', (error: Error) => log.warn('response.broken', { reason: error.message }));
  koa.use(async (context) => {
    const { req: request, res: response } = context;
    const { status, fields, body = null, trailers } = await answerTo(request);
    // Koa takes the length of a text from it, and of a stream from the fields.
    context.body = body;
    context.status = status;
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
    if (!(body instanceof Readable)) return;
    if (trailers) body.once('end', () => response.addTrailers(pairs(trailers())));
    closeWithStream(response, body);
  });
  return koa.callback();
}

/** Koa does not hear of a stream of HTTP/2 that was reset before it had any content. */
function closeWithStream(response: AnyResponse, content: Readable): void {
  if (!(response instanceof Http2ServerResponse)) return;
  finished(response.stream, { readable: false }, () => content.destroy());
}

const pairs = (fields: Fields) =>
  Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
