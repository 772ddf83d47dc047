import { constants, createServer } from 'node:http2';
import type {
  Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  Http2Session,
  Http2Stream,
  ServerHttp2Stream,
} from 'node:http2';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import { recover } from '#shared/base/awaitable.ts';
import { atTurnsEnd } from '#shared/base/turn.ts';
import type { Admission } from '../limits/admission.ts';
import { ambiguous } from '../client-errors/ambiguity.ts';
import { problemAnswer } from '#shared/http/answer.ts';
import { send } from '../message/answer.ts';
import { TOO_SLOW } from '../client-errors/client-error.ts';
import { LINGER } from '../limits/connections.ts';
import { excess, leftover } from '../client-errors/excess.ts';
import { continueOnRead } from '../message/expect.ts';
import { endFloods } from './floods.ts';
import { Http2Sessions } from './http2-sessions.ts';
import type { AnyHandler } from '../message/message.ts';
import type { Pace } from '../limits/pace.ts';
import {
  CONTENT_OF_CONNECT,
  FAILED,
  idField,
  noTunnel,
  OTHER_PROTOCOL,
  type ConnectionError,
  type RefusalAt,
  refused,
  UNMET_EXPECTATION,
} from '../message/connection-error.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';
import { WEB_SOCKET } from '#shared/http/web-socket.ts';
import { http2Tunnel, type TunnelHandler } from '../tunnels/tunnel.ts';
import { http2Upgrade } from '../tunnels/upgrade.ts';
import { setImmediate, setTimeout } from '#shared/base/safe-timers.ts';

/**
 * How many fields over the limit still get a 431. nghttp2 refuses a section with more fields without an event, since
 * unpacking it would be the attack.
 */
const FIELDS_TOO_MANY = 50;

/**
 * Megabytes, so many that the limit refuses no client. A lower limit would: node:http2 keeps counting octets of
 * streams that were reset, and would accept no more requests after some dozens. The other limits bound the memory.
 */
const SESSION_MEMORY = 1000;

export interface Http2Parts {
  readonly handler: AnyHandler;
  readonly tunnel?: TunnelHandler | undefined;
  /** True if a stream may become a WebSocket (RFC 8441). */
  readonly webSockets: boolean;
  /** Aborted when the server is about to end. */
  readonly ending: AbortSignal;
  readonly admission: Admission;
  readonly limit: ServerLimits;
  readonly pace: Pace;
  readonly refusalAt?: RefusalAt | undefined;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Http2 extends Disposable {
  /** A server that does not listen itself: the caller emits `connection` on it. */
  readonly server: Http2Server;
  /** Lets open streams finish, and accepts no new streams. */
  close(): void;
  destroy(): void;
}

/** Creates HTTP/2 (RFC 9113) on connections that another listener accepts, in clear text or with TLS. */
export function http2Server(parts: Http2Parts): Http2 {
  const { handler, tunnel, webSockets, ending, admission, limit, pace } = parts;
  const { log, clock, random, refusalAt = (_target, refusal) => refusal } = parts;
  const sessions = new Http2Sessions(limit);
  /** Streams whose content arrived too slowly. */
  const cutOff = new WeakSet<Http2Stream>();
  const server = createServer({
    settings: {
      enablePush: false,
      ...(webSockets && { enableConnectProtocol: true }), // never taken back (RFC 8441 section 3)
      maxConcurrentStreams: limit.streams,
      maxHeaderListSize: limit.headerBytes,
    },
    maxHeaderListPairs: limit.fields + FIELDS_TOO_MANY,
    maxSessionMemory: SESSION_MEMORY,
    maxSessionInvalidFrames: limit.invalidFrames,
    strictFieldWhitespaceValidation: false, // otherwise such fields vanish; client-errors/ambiguity.ts refuses them
  });

  function refuse(
    request: Http2ServerRequest,
    response: Http2ServerResponse,
    refusal: ConnectionError,
    reason: string,
  ): void {
    const told = refused(refusalAt(request.url, refusal), random, request);
    const { id, status, detail } = told;
    log.info('refused', { id, status, reason, address: request.socket.remoteAddress });
    send(request, response, problemAnswer(status, detail, idField(told)));
  }

  /**
   * Returns false if too many requests of the address are in progress. The request was then not handled, so the
   * client may repeat it (RFC 9113 section 8.7).
   */
  function begins({ stream, socket }: Http2ServerRequest): boolean {
    const taken = admission.takes(stream, socket);
    if (!taken) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return taken;
  }

  function serve(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const refusal = ambiguous(request) ?? excess(request, limit);
    if (refusal !== undefined) return refuse(request, response, refusal, refusal.detail);
    if (!request.stream.endAfterHeaders) limitContent(request, response);
    work(request, response);
  }

  function work(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    const failed = (error: unknown) => {
      if (cutOff.has(stream)) return; // the request has its answer
      const reason = error instanceof Error ? error.stack : String(error);
      const told = refused(FAILED, random, request);
      log.error('handler failed', { id: told.id, reason });
      if (response.headersSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      else send(request, response, problemAnswer(told.status, told.detail, idField(told)));
    };
    atTurnsEnd(() => void recover(() => handler(request, response), failed), failed);
  }

  /** Limits the time in which content must arrive, and the length of unread content at the end of the answer. */
  function limitContent(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    const timer = setTimeout(() => cut(request, response), limit.requestTimeout);
    stream.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    // Otherwise node:http2 resets a stream with unread content at its answer, which curl reports as a failure.
    if (request.headers.expect === undefined) request.read(0);
    let left = leftover(request, limit);
    function discard(): void {
      stream.on('data', (piece: Buffer) => {
        left -= piece.length;
        if (left < 0 && response.headersSent) stream.close(constants.NGHTTP2_NO_ERROR); // RFC 9113 section 8.1
      });
      request.resume();
    }
    // node:http2 reports the answer to HEAD, which has no content, as finished before it begins.
    if (stream.writableFinished) discard();
    else stream.once('finish', discard);
  }

  function cut(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    cutOff.add(stream);
    if (response.headersSent) return stream.close(constants.NGHTTP2_CANCEL);
    // A reset before the end of the answer would destroy the answer.
    stream.once('finish', () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
    refuse(request, response, TOO_SLOW, 'slow content');
  }

  async function connect(
    request: Http2ServerRequest,
    response: Http2ServerResponse,
  ): Promise<void> {
    const unclear = ambiguous(request);
    const refusal = unclear ?? noTunnel(request.headers[':authority']);
    const decline = () => refuse(request, response, refusal, refusal.detail);
    if (unclear !== undefined || tunnel === undefined) return decline();
    const { stream } = request;
    const { session } = stream;
    if (session) stream.once('close', sessions.tunnel(session));
    try {
      await tunnel(http2Tunnel(request, response, decline));
    } catch (error) {
      log.error('tunnel failed', { reason: error instanceof Error ? error.stack : String(error) });
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }

  /** Handles extended CONNECT (RFC 8441 section 4). nghttp2 refuses it if the setting does not allow it. */
  function handshake(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const refusal = ambiguous(request) ?? unlikeWebSocket(request);
    if (refusal !== undefined) return refuse(request, response, refusal, refusal.detail);
    const { stream } = request;
    http2Upgrade(request, response, ending, () => {
      if (stream.session) stream.once('close', sessions.tunnel(stream.session));
    });
    const tooMuch = excess(request, limit);
    if (tooMuch !== undefined) return refuse(request, response, tooMuch, tooMuch.detail);
    work(request, response);
  }

  /**
   * Sends one GOAWAY after all requests that have arrived. It names the last request that is served, so the client
   * may repeat later requests elsewhere. There is no earlier, announcing GOAWAY (RFC 9113 section 6.8): after one,
   * nghttp2 as node uses it would read no further request without reporting that.
   */
  function sayGoodbye(session: Http2Session): void {
    setTimeout(() => session.close(), LINGER).unref();
  }

  server.on('session', (session: Http2Session) => {
    sessions.add(session);
    if (ending.aborted) sayGoodbye(session);
    endFloods(session, limit, clock);
    session.on('stream', endIfReset);
  });
  server.on('sessionError', (error: NodeJS.ErrnoException) => {
    log.info('refused', { reason: error.code ?? error.message });
  });
  server.on('request', (request, response) => {
    if (!begins(request)) return;
    if (!request.stream.endAfterHeaders) pace.watch(request, () => cut(request, response));
    serve(request, response);
  });
  server.on('checkContinue', (request, response) => {
    if (!begins(request)) return;
    continueOnRead(request, response, () => pace.watch(request, () => cut(request, response)));
    serve(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    refuse(request, response, UNMET_EXPECTATION, 'Expect');
  });
  server.on('connect', (request: Http2ServerRequest, response: Http2ServerResponse) => {
    if (!begins(request)) return;
    if (request.headers[':protocol'] === undefined) void connect(request, response);
    else handshake(request, response);
  });

  return {
    server,
    close() {
      for (const session of sessions) sayGoodbye(session);
    },
    destroy() {
      for (const session of sessions) session.destroy();
    },
    [Symbol.dispose]: () => sessions[Symbol.dispose](),
  };
}

/**
 * Returns the refusal of a handshake that cannot become a WebSocket. An unknown protocol gets 501 (RFC 9110 section
 * 15.6.2), as RFC 9220 section 3 says for HTTP/3; content is refused (section 9.3.6).
 */
function unlikeWebSocket({ headers }: Http2ServerRequest): ConnectionError | undefined {
  if (headers[':protocol'] !== WEB_SOCKET) return OTHER_PROTOCOL;
  return headers['content-length'] === undefined ? undefined : CONTENT_OF_CONNECT;
}

/** node:http2 would keep a stream open that its client resets with NO_ERROR before the answer is complete. */
function endIfReset(stream: ServerHttp2Stream): void {
  stream.once('end', () => {
    if (stream.closed) stream.destroy();
  });
}
