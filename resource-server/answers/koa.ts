import Koa from 'koa';
import type { Log } from '#shared/base/log.ts';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Answer } from '#shared/http/answer.ts';
import { send } from '#shared/server/message/answer.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { inPieces, type ResourceAnswer } from './pieces.ts';
import { sendPieces, type InPieces } from './send-pieces.ts';

interface Exchange {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
}

/**
 * Sends answers whose content is in pieces through Koa. If such an answer breaks off, Koa's error handler logs that,
 * and the connection is closed. Other answers are written at once, like those of endpoints. Undefined: the answer is
 * already written.
 */
export function onKoa<Asked extends Exchange>(
  answerTo: (exchange: Asked) => Awaitable<ResourceAnswer | undefined>,
  log: Log,
): (exchange: Asked) => Awaitable<void> {
  /** The answer for the middleware, which Koa calls before `write` returns. */
  let given: InPieces | undefined;
  const koa = new Koa();
  koa.on('error', (error: Error) => log.warn('response.broken', { reason: error.message }));
  koa.use(async (context) => {
    if (given === undefined) throw new Error('Koa has nothing to write');
    const answer = given;
    given = undefined;
    context.respond = false;
    await sendPieces(context.req, context.res, answer);
  });
  const write = koa.callback();

  return (exchange) =>
    andThen(answerTo(exchange), (answer) => {
      if (answer === undefined) return;
      const { request, response } = exchange;
      if (!inPieces(answer.body)) {
        return send(request, response, answer as Answer<string | Uint8Array>);
      }
      given = answer as InPieces;
      return write(request, response);
    });
}
