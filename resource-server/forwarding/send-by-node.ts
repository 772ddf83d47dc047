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

/** The most bytes in the header section of an answer. */
export const ANSWER_HEADER = 65_536;
/** Milliseconds after which the content is sent to a server that does not support `100-continue`. */
const CONTINUE = 1000;

export interface Sent {
  readonly request: AnyRequest;
  /** How the server is reached. */
  readonly way: Pick<RequestOptions, 'createConnection' | 'agent' | 'host' | 'port' | 'protocol'>;
  readonly path: string;
  readonly lines: Lines;
  /** Further trailers that are not forwarded. */
  readonly removed?: Drop;
  /** Seconds that may pass without a byte in either direction, and until the answer begins. */
  readonly idle: number;
  /** Called when octets of the request may have been sent, before any of its content is read. */
  readonly touched?: () => void;
  /** Called when the server is done with the exchange. */
  readonly over?: () => void;
  /** The flow of this exchange, if it is observed. */
  readonly flow?: Flow;
}

/**
 * Forwards a request with its content and trailers as they arrive (RFC 9110 section 7.6), and passes the answer to the
 * client. Resolves when the answer has begun. Rejects before that with HttpError 502 or 504, or BadRequest.
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
  // The time limit continues while an answer's head arrives in small parts.
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
      // An error thrown here would end the process.
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
      if (!answer.complete) sink.breakOff(); // otherwise only the rest of the request's content was not needed
    });
    give(answer, sink, flow);
  } catch (error) {
    upstream.destroy();
    throw error;
  }
}

/** Begins a request, which is sent with its first content or at its end. */
export function ask({ request, way, path, lines }: Sent): ClientRequest {
  const upstream = http.request({
    ...way,
    method: request.method,
    path,
    headers: lines.flat(),
    setHost: false,
    maxHeaderSize: ANSWER_HEADER,
  });
  upstream.maxHeadersCount = 0; // otherwise fields beyond the count would be lost; the bytes are limited anyway
  return upstream;
}

/** Passes an answer to the client as it arrives. Throws for an answer that must not be passed on. */
export function give(answer: IncomingMessage, sink: Sink, flow: Flow): void {
  const { statusCode: status = 0, statusMessage: reason, rawHeaders, httpVersion } = answer;
  const head = { status, reason, rawHeaders, httpVersion };
  if (sink.declines(head)) throw DECLINED;
  sink.begin(head);
  answer.on('error', () => {}); // the event `close` follows
  answer.on('data', (piece: Buffer) => flow.pass(piece, sink, answer));
  answer.once('end', () => sink.end(answer.rawTrailers));
  answer.once('close', () => {
    if (!answer.complete) sink.breakOff();
  });
}

/** Resolves when the connection is open. Stays pending if it fails. */
function connected(upstream: ClientRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.once('socket', (socket) => {
    if (!socket.connecting) resolve();
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => resolve());
  });
  return promise;
}

/** Sends the content as it arrives, once the server asks for it (RFC 9110 section 10.1.1), and its trailers. */
async function sendContent({ request, removed }: Sent, upstream: ClientRequest): Promise<void> {
  if (request.headers.expect !== undefined && !(await isWanted(upstream))) return;
  // Available content is sent together with the head. Otherwise the head goes first, since the server may answer
  // without content.
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

/** Resolves to true if the server asks for the content or stays silent. False: the server answers without content. */
function isWanted(upstream: ClientRequest): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, CONTINUE, true);
  upstream.once('continue', () => resolve(true));
  upstream.once('response', () => resolve(false)).once('close', () => resolve(false));
  upstream.flushHeaders();
  return promise.finally(() => clearTimeout(timer));
}

/** Resolves when more can be written, or the request has ended. */
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
    if (!upstream.destroyed) resolve(answer); // otherwise the request was given up while the same bytes were read
  });
  upstream.once('close', () => fail(undefined));
  upstream.once('upgrade', (_answer, socket) => {
    socket.destroy();
    fail(new HttpError(502, 'The destination switched protocols without a request for it.'));
  });
  return promise;
}
