import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { contentOf } from '#shared/server/content.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import { giveAnswer, passInterim } from './answer.ts';
import { failure } from './failure.ts';
import type { Forwarding } from './forwarding.ts';
import { requestLines, trailerLines } from './fields.ts';
import { breakOff, exchangeOf, sideOf } from './side.ts';

/** Bytes of the header section of an answer. */
const ANSWER_HEADER = 65_536;
/** Milliseconds after which the content goes out to a server that knows no `100-continue`. */
const CONTINUE = 1000;

/**
 * Forwards a request and its answer (RFC 9110 section 7.6), both as they come. Resolves when the answer
 * has begun. Rejects before that with HttpError 502 or 504, or BadRequest; an answer that breaks off
 * later breaks off for the client, and never looks like a whole one.
 */
export async function forward(forwarding: Forwarding): Promise<void> {
  const { request, response, socket, idle } = forwarding;
  let upstream: ClientRequest;
  try {
    upstream = ask(forwarding);
  } catch (error) {
    socket.destroy();
    throw error instanceof BadRequest ? error : new BadRequest('This cannot be forwarded.');
  }
  exchangeOf(response).once('close', () => upstream.destroy());
  socket.setTimeout(idle * 1000, () => {
    upstream.destroy(new HttpError(504, 'The destination did not answer in time.'));
  });
  passInterim(upstream, forwarding);
  sendContent(request, upstream).catch(() => upstream.destroy());
  try {
    const answer = await firstAnswer(upstream);
    upstream.on('error', () => {
      if (!answer.complete) breakOff(sideOf(request)); // else only the rest of the content was not wanted
    });
    giveAnswer(forwarding, answer);
  } catch (error) {
    upstream.destroy();
    throw error;
  }
}

function ask({ request, target, socket, pseudonym }: Forwarding): ClientRequest {
  const upstream = http.request({
    method: request.method,
    path: target.path,
    headers: requestLines(request, target, pseudonym).flat(),
    setHost: false,
    maxHeaderSize: ANSWER_HEADER,
    createConnection: () => socket,
  });
  upstream.maxHeadersCount = 0; // else the fields past the count vanish; the bytes are bounded
  return upstream;
}

/** The content as it comes, once the server wants it (RFC 9110 section 10.1.1), and its trailers. */
async function sendContent(request: AnyRequest, upstream: ClientRequest): Promise<void> {
  if (request.headers.expect !== undefined && !(await isWanted(upstream))) return;
  // With the content if that is here already, else before it: the answer may come without.
  setImmediate(() => {
    if (!upstream.writableEnded && !upstream.destroyed) upstream.flushHeaders();
  });
  for await (const piece of contentOf(request)) {
    if (!upstream.write(piece)) await drained(upstream);
    if (upstream.destroyed) return;
  }
  upstream.addTrailers(trailerLines(request));
  upstream.end();
}

/** Whether the server asks for the content, or leaves it to the client; false: it answers without. */
function isWanted(upstream: ClientRequest): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, CONTINUE, true);
  upstream.once('continue', () => resolve(true));
  upstream.once('response', () => resolve(false)).once('close', () => resolve(false));
  upstream.flushHeaders();
  return promise.finally(() => clearTimeout(timer));
}

/** Resolves when more can be written, or nothing can any more. */
async function drained(upstream: ClientRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.once('drain', resolve).once('close', resolve);
  await promise;
  upstream.off('drain', resolve).off('close', resolve);
}

function firstAnswer(upstream: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const fail = (cause: unknown) => {
    const detail = 'The destination gave no answer that can be understood.';
    reject(cause instanceof HttpError ? cause : failure(502, detail, cause));
  };
  upstream.on('error', fail);
  upstream.once('response', (answer) => {
    if (!upstream.destroyed) resolve(answer); // else it was given up within the same bytes
  });
  upstream.once('close', () => fail(new Error('closed without an answer')));
  upstream.once('upgrade', (_answer, socket) => {
    socket.destroy();
    fail(new Error('101 without having been asked to'));
  });
  return promise;
}
