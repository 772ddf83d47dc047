import type { Socket } from 'node:net';
import { PROXY, type Seal } from '#shared/auth/scheme.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { PassingAnswer } from '../forwarding/passing-answer.ts';
import { sendByNode } from '../forwarding/send-by-node.ts';
import type { ProxyTarget } from './target.ts';
import { lines } from '#shared/http/fields.ts';
import {
  framingLines,
  framingOf,
  type Lines,
  onwardLines,
  takesTrailers,
} from '../forwarding/fields.ts';

/** A request that the proxy forwards, and its answer. */
interface Forwarding {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  readonly target: ProxyTarget;
  /** The connection to the target, for this request only. */
  readonly socket: Socket;
  /** The proxy's own fields of the answer. */
  readonly fields: Fields;
  readonly seal?: Seal<Fields> | undefined;
  readonly pseudonym: string;
  /** Seconds without a byte in either direction after which the exchange ends. */
  readonly idle: number;
}

/**
 * Forwards a request and its answer (RFC 9110 section 7.6), both as a stream. Resolves when the answer has begun.
 * Rejects before that with HttpError 502 or 504, or BadRequest. If an answer breaks off later, it breaks off for
 * the client, too, and never looks complete.
 */
export async function forward(forwarding: Forwarding): Promise<void> {
  const { request, target, socket, idle, pseudonym } = forwarding;
  const passing = new PassingAnswer({ ...forwarding, info: PROXY.info });
  const way = { createConnection: () => socket };
  try {
    const forwarded = requestLines(request, target, pseudonym);
    await sendByNode({ request, way, path: target.path, lines: forwarded, idle }, passing);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * Returns the field lines to forward with a request. `pseudonym` is this proxy's name in Via (RFC 9110 section
 * 7.6.3). Throws BadRequest if Connection names an end-to-end field.
 */
function requestLines(request: AnyRequest, target: ProxyTarget, pseudonym: string): Lines {
  const { method, rawHeaders } = request;
  const framing = framingOf(request);
  const onward = onwardLines(request, pseudonym, ({ vouched }) => vouched);
  const written: Lines = [['Host', target.authority], ...onward, ...framingLines(framing, method)];
  const [trailer] = lines(rawHeaders, 'trailer');
  if (framing === 'chunked' && trailer !== undefined) written.push(['Trailer', trailer]);
  const trailers = takesTrailers(request);
  if (trailers) written.push(['TE', 'trailers']);
  written.push(['Connection', trailers ? 'close, TE' : 'close']);
  return written;
}
