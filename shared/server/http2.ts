import { constants, createServer } from 'node:http2';
import type {
  Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  Http2Session,
  Http2Stream,
  ServerHttp2Stream,
} from 'node:http2';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { problemAnswer, send } from './answer.ts';
import { TOO_SLOW } from './client-error.ts';
import { excess, leftover } from './excess.ts';
import { continueOnRead } from './expect.ts';
import { endFloods } from './floods.ts';
import type { AnyHandler } from './message.ts';
import type { Pace } from './pace.ts';
import { FAILED, noTunnel, type Refusal, UNMET_EXPECTATION } from './refusal.ts';
import type { ServerLimits } from './server-limits.ts';
import { SlowReaders } from './slow-readers.ts';
import { http2Tunnel, type TunnelHandler } from './tunnel.ts';

/** What each field counts beyond its octets (RFC 9113 section 6.5.2). */
const FIELD_OVERHEAD = 32;

/**
 * Megabytes, so that it refuses nobody: node:http2 goes on counting what was to be sent on a stream that is
 * reset, and would take no more requests after some dozens. Memory is bounded by the other limits.
 */
const SESSION_MEMORY = 1000;

export interface Http2Parts {
  readonly handler: AnyHandler;
  readonly tunnel?: TunnelHandler | undefined;
  readonly limit: ServerLimits;
  readonly pace: Pace;
  readonly log: Log;
  readonly clock: Clock;
}

export interface Http2 {
  /** Does not listen itself: emit `connection` on it. */
  readonly server: Http2Server;
  /** Lets the streams finish, and accepts no new ones. */
  close(): void;
  destroy(): void;
}

/** HTTP/2 (RFC 9113) on connections that somebody else accepts, in clear text or with TLS. */
export function http2Server(parts: Http2Parts): Http2 {
  const { handler, tunnel, limit, pace, log, clock } = parts;
  /** The open connections, and how many tunnels each one has. */
  const sessions = new Map<Http2Session, number>();
  /** Streams whose content came too slowly. */
  const cutOff = new WeakSet<Http2Stream>();
  const server = createServer({
    settings: {
      enablePush: false,
      maxConcurrentStreams: limit.streams,
      maxHeaderListSize: limit.headerBytes,
    },
    maxHeaderListPairs: limit.headerBytes / FIELD_OVERHEAD, // as many as the bytes allow; excess.ts counts them
    maxSessionMemory: SESSION_MEMORY,
    maxSessionInvalidFrames: limit.invalidFrames,
    strictFieldWhitespaceValidation: false, // else such fields vanish; ambiguity.ts refuses them
  });

  function refuse(
    request: Http2ServerRequest,
    response: Http2ServerResponse,
    { status, detail }: Refusal,
    reason: string,
  ): void {
    log.info('refused', { status, reason, address: request.socket.remoteAddress });
    send(request, response, problemAnswer(status, detail));
  }

  async function serve(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const { stream } = request;
    const refusal = excess(request, limit);
    if (refusal !== undefined) return refuse(request, response, refusal, 'request');
    if (!stream.endAfterHeaders) limitContent(request, response);
    try {
      await handler(request, response);
    } catch (error) {
      if (cutOff.has(stream)) return; // it has its answer
      log.error('handler failed', { reason: error instanceof Error ? error.stack : String(error) });
      if (response.headersSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      else send(request, response, problemAnswer(FAILED.status, FAILED.detail));
    }
  }

  /** Content has to come in time, and what is left of it at the end of the answer must not be much. */
  function limitContent(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    const timer = setTimeout(() => cut(request, response), limit.requestTimeout);
    stream.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    // Else node:http2 resets what nobody reads with the answer, which curl takes for a failure.
    if (request.headers.expect === undefined) request.read(0);
    let left = leftover(request, limit);
    function discard(): void {
      stream.on('data', (piece: Buffer) => {
        left -= piece.length;
        if (left < 0 && response.headersSent) stream.close(constants.NGHTTP2_NO_ERROR); // RFC 9113 section 8.1
      });
      request.resume();
    }
    // For node:http2 the answer to HEAD, which has no content, is over before it begins.
    if (stream.writableFinished) discard();
    else stream.once('finish', discard);
  }

  function cut(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    cutOff.add(stream);
    if (response.headersSent) return stream.close(constants.NGHTTP2_CANCEL);
    // A reset that came before the end of the answer would destroy it.
    stream.once('finish', () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
    refuse(request, response, TOO_SLOW, 'slow content');
  }

  async function connect(
    request: Http2ServerRequest,
    response: Http2ServerResponse,
  ): Promise<void> {
    if (tunnel === undefined) {
      return refuse(request, response, noTunnel(request.headers[':authority']), 'CONNECT');
    }
    const { stream } = request;
    const { session } = stream;
    count(session, 1);
    stream.once('close', () => count(session, -1));
    try {
      await tunnel(http2Tunnel(request, response));
    } catch (error) {
      log.error('tunnel failed', { reason: error instanceof Error ? error.stack : String(error) });
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }

  function count(session: Http2Session | undefined, more: number): void {
    if (session === undefined) return;
    const tunnels = sessions.get(session);
    if (tunnels !== undefined) sessions.set(session, tunnels + more);
  }

  server.on('session', (session: Http2Session) => {
    sessions.set(session, 0);
    endFloods(session, limit, clock);
    session.on('stream', endIfReset);
    const readers = new SlowReaders(session, limit);
    const timer = setInterval(() => readers.look(), limit.idleTimeout).unref();
    session.once('close', () => {
      sessions.delete(session);
      clearInterval(timer);
    });
    session.setTimeout(limit.idleTimeout);
    session.on('timeout', () => {
      if (sessions.get(session) === 0) session.destroy(); // a tunnel has its own time
    });
  });
  server.on('sessionError', (error: NodeJS.ErrnoException) => {
    log.info('refused', { reason: error.code ?? error.message });
  });
  server.on('request', (request, response) => {
    if (!request.stream.endAfterHeaders) pace.watch(request, () => cut(request, response));
    void serve(request, response);
  });
  server.on('checkContinue', (request, response) => {
    continueOnRead(request, response, () => pace.watch(request, () => cut(request, response)));
    void serve(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    refuse(request, response, UNMET_EXPECTATION, 'Expect');
  });
  server.on('connect', (request: Http2ServerRequest, response: Http2ServerResponse) => {
    void connect(request, response);
  });

  return {
    server,
    close() {
      for (const session of sessions.keys()) session.close();
    },
    destroy() {
      for (const session of sessions.keys()) session.destroy();
    },
  };
}

/** A stream that its client resets with NO_ERROR before all was sent would stay open for node:http2. */
function endIfReset(stream: ServerHttp2Stream): void {
  stream.once('end', () => {
    if (stream.closed) stream.destroy();
  });
}
