import { Http2ServerResponse } from 'node:http2';
import { finished, Readable } from 'node:stream';
import Koa from 'koa';
import type { Log } from '#shared/base/log.ts';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Fields } from '#shared/http/answer.ts';
import { send } from '#shared/server/answer.ts';
import { type AnyRequest, type AnyResponse, setFields } from '#shared/server/message.ts';
import type { ResourceAnswer } from './resources/resource.ts';

/** Its content is not in memory. */
type Streamed = ResourceAnswer & { readonly body: Readable };

/**
 * Koa's one job: to write answers whose content is a stream. What breaks off after it has begun is logged, and
 * the connection ends. Other answers are written as those of endpoints are, at once.
 */
export function onKoa(
  answerTo: (request: AnyRequest) => Awaitable<ResourceAnswer>,
  log: Log,
): (request: AnyRequest, response: AnyResponse) => Awaitable<void> {
  /** For the middleware, which Koa calls before `write` returns. */
  let given: Streamed | undefined;
  const koa = new Koa();
  koa.on('error', (error: Error) => log.warn('response.broken', { reason: error.message }));
  koa.use((context) => {
    if (given === undefined) throw new Error('Koa has nothing to write');
    const { status, fields, body, trailers } = given;
    given = undefined;
    const { res: response } = context;
    // Koa takes the length of a stream from the fields.
    context.body = body;
    context.status = status;
    setFields(response, fields);
    if (trailers) body.once('end', () => response.addTrailers(pairs(trailers())));
    closeWithStream(response, body);
  });
  const write = koa.callback();

  return (request, response) =>
    andThen(answerTo(request), ({ body, ...answer }) => {
      if (!(body instanceof Readable)) {
        return send(request, response, body === undefined ? answer : { ...answer, body });
      }
      given = { ...answer, body };
      return write(request, response);
    });
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
