import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { TLSSocket } from 'node:tls';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { contentOf } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { type Drop, type Lines, trailerLines } from './fields.ts';
import { Flow } from './flow.ts';
import { DECLINED, type Sink } from './sink.ts';
import { unanswered } from './unanswered.ts';
import { setImmediate, setTimeout } from '#shared/base/safe-timers.ts';

/** Bytes of the header section of an answer. */
export const ANSWER_HEADER = 65_536;
/** Milliseconds after which the content goes out to a server that knows no `100-continue`. */
const CONTINUE = 1000;

export interface Sent {
  readonly request: AnyRequest;
  /** How it is reached. */
  readonly way: Pick<RequestOptions, 'createConnection' | 'agent' | 'host' | 'port' | 'protocol'>;
  readonly path: string;
  readonly lines: Lines;
  /** Trailers that do not go on, besides those that never do. */
  readonly removed?: Drop;
  /** Seconds that may pass without a byte in either direction, and until the answer to all of it begins. */
  readonly idle: number;
  /** Called when octets of the request may have been sent, before any of its content is read. */
  readonly touched?: () => void;
  /** Called when the server has no more to do with it. */
  readonly over?: () => void;
  /** The flow of this exchange, if somebody watches it. */
  readonly flow?: Flow;
}

/**
 * Sends a request on, with its content and trailers as they come (RFC 9110 section 7.6), and gives the client what
 * is answered. Resolves when the answer has begun. Rejects before that with HttpError 502 or 504, or BadRequest.
 */
export async function sendByNode(sent: Sent, sink: Sink): Promise<void> {
  const { request, idle, touched, over, flow = new Flow(request, true) } = sent;
  let upstream: ClientRequest;
  try {
    upstream = ask(sent);
  } catch (error) {
    over?.();
    throw error instanceof BadRequest ? error : new BadRequest('This cannot be forwarded.');
  }
  sink.exchange.once('close', () => upstream.destroy());
  upstream.once('close', () => over?.());
  flow.end = (why) => upstream.destroy(why);
  const giveUp = () => {
    upstream.destroy(new HttpError(504, 'The destination did not answer in time.'));
  };
  upstream.setTimeout(idle * 1000, giveUp);
  let waiting: NodeJS.Timeout | undefined;
  // A head that comes drop by drop is none yet.
  const wait = () => (waiting = setTimeout(giveUp, idle * 1000));
  upstream.once('finish', wait);
  const stop = () => {
    upstream.off('finish', wait);
    clearTimeout(waiting);
  };
  upstream.once('response', stop).once('close', stop);
  upstream.on('information', ({ statusCode, rawHeaders, httpVersion }) => {
    waiting?.refresh();
    try {
      sink.interim({ status: statusCode, rawHeaders, httpVersion });
    } catch (error) {
      // Thrown from here it would end the process.
      upstream.destroy(error instanceof Error ? error : undefined);
    }
  });
  connected(upstream)
    .then(() => {
      touched?.();
      return sendContent(sent, upstream);
    })
    .catch(() => upstream.destroy());
  try {
    const answer = await firstAnswer(upstream);
    upstream.on('error', () => {
      if (!answer.complete) sink.breakOff(); // else only the rest of the content was not wanted
    });
    give(answer, sink, flow);
  } catch (error) {
    upstream.destroy();
    throw error;
  }
}

/** Begins a request, which is not sent before its content, or its end. */
export function ask({ request, way, path, lines }: Sent): ClientRequest {
  const upstream = http.request({
    ...way,
    method: request.method,
    path,
    headers: lines.flat(),
    setHost: false,
    maxHeaderSize: ANSWER_HEADER,
  });
  upstream.maxHeadersCount = 0; // else the fields past the count vanish; the bytes are bounded
  return upstream;
}

/** Gives the client an answer as it comes. Throws for one that must not be passed on. */
export function give(answer: IncomingMessage, sink: Sink, flow: Flow): void {
  const { statusCode: status = 0, statusMessage: reason, rawHeaders, httpVersion } = answer;
  const head = { status, reason, rawHeaders, httpVersion };
  if (sink.declines(head)) throw DECLINED;
  sink.begin(head);
  answer.on('error', () => {}); // `close` follows
  answer.on('data', (piece: Buffer) => flow.pass(piece, sink, answer));
  answer.once('end', () => sink.end(answer.rawTrailers));
  answer.once('close', () => {
    if (!answer.complete) sink.breakOff();
  });
}

/** Resolves when there is a connection; never, if there will be none. */
function connected(upstream: ClientRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.once('socket', (socket) => {
    if (!socket.connecting) resolve();
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => resolve());
  });
  return promise;
}

/** The content as it comes, once the server wants it (RFC 9110 section 10.1.1), and its trailers. */
async function sendContent({ request, removed }: Sent, upstream: ClientRequest): Promise<void> {
  if (request.headers.expect !== undefined && !(await isWanted(upstream))) return;
  // With the content if that is here already, else before it: the answer may come without.
  setImmediate(() => {
    if (!upstream.writableEnded && !upstream.destroyed) upstream.flushHeaders();
  });
  for await (const piece of contentOf(request)) {
    if (!upstream.write(piece)) await drained(upstream);
    if (upstream.destroyed) return;
  }
  upstream.addTrailers(trailerLines(request, removed));
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
    reject(cause instanceof HttpError ? cause : unanswered('destination', cause));
  };
  upstream.on('error', fail);
  upstream.once('response', (answer) => {
    if (!upstream.destroyed) resolve(answer); // else it was given up within the same bytes
  });
  upstream.once('close', () => fail(undefined));
  upstream.once('upgrade', (_answer, socket) => {
    socket.destroy();
    fail(new HttpError(502, 'The destination switched protocols without a request for it.'));
  });
  return promise;
}
