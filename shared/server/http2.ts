import { constants, createServer } from 'node:http2';
import type {
  Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  Http2Session,
} from 'node:http2';
import type { Log } from '#shared/log.ts';
import { problemAnswer, send } from './answer.ts';
import { TARGET_TOO_LONG } from './client-error.ts';
import { continueOnRead } from './expect.ts';
import type { AnyHandler } from './message.ts';
import { FAILED, NO_TUNNELS, type Refusal, UNMET_EXPECTATION } from './refusal.ts';
import type { ServerLimits } from './server-limits.ts';
import { http2Tunnel, type TunnelHandler } from './tunnel.ts';

export interface Http2Parts {
  readonly handler: AnyHandler;
  readonly tunnel?: TunnelHandler | undefined;
  readonly limit: ServerLimits;
  readonly log: Log;
}

export interface Http2 {
  /** Does not listen itself: emit `connection` on it. */
  readonly server: Http2Server;
  /** Lets the streams finish, and accepts no new ones. */
  close(): void;
  destroy(): void;
}

/** HTTP/2 (RFC 9113) on connections that somebody else accepts, in clear text or with TLS. */
export function http2Server({ handler, tunnel, limit, log }: Http2Parts): Http2 {
  /** The open connections, and how many tunnels each one has. */
  const sessions = new Map<Http2Session, number>();
  const server = createServer({
    settings: {
      enablePush: false,
      maxConcurrentStreams: limit.streams,
      maxHeaderListSize: limit.headerBytes,
    },
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
    if ((request.url ?? '').length > limit.targetBytes) {
      return refuse(request, response, TARGET_TOO_LONG, 'request line');
    }
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), limit.requestTimeout);
    stream.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    try {
      await handler(request, response);
    } catch (error) {
      log.error('handler failed', { reason: error instanceof Error ? error.stack : String(error) });
      if (response.headersSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      else send(request, response, problemAnswer(FAILED.status, FAILED.detail));
    }
  }

  async function connect(
    request: Http2ServerRequest,
    response: Http2ServerResponse,
  ): Promise<void> {
    if (tunnel === undefined) return refuse(request, response, NO_TUNNELS, 'CONNECT');
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
    session.once('close', () => sessions.delete(session));
    session.setTimeout(limit.idleTimeout);
    session.on('timeout', () => {
      if (sessions.get(session) === 0) session.destroy(); // a tunnel has its own time
    });
  });
  server.on('sessionError', (error: NodeJS.ErrnoException) => {
    log.info('refused', { reason: error.code ?? error.message });
  });
  server.on('request', (request, response) => void serve(request, response));
  server.on('checkContinue', (request, response) => {
    continueOnRead(request, response);
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
