import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { type ClientError, ClientErrors, OTHER_VERSION, TARGET_TOO_LONG } from './client-error.ts';
import type { Connections } from './connections.ts';
import { continueOnRead } from './expect.ts';
import { FAILED, NO_TUNNELS, type Refusal, refuse, UNMET_EXPECTATION } from './refusal.ts';
import { peek } from './peek.ts';
import type { ServerLimits } from './server-limits.ts';
import { http1Tunnel, type TunnelHandler } from './tunnel.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface Http1Parts {
  readonly handler: Handler;
  readonly tunnel?: TunnelHandler | undefined;
  readonly connections: Connections;
  readonly limit: ServerLimits;
  readonly log: Log;
  readonly clock: Clock;
}

/** A server of HTTP/1.0 and HTTP/1.1 that does not listen yet. */
export function http1Server(parts: Http1Parts): Server {
  const { handler, tunnel, connections, limit, log, clock } = parts;
  const clientErrors = new ClientErrors();
  const server = http.createServer({
    maxHeaderSize: limit.headerBytes,
    headersTimeout: limit.headersTimeout,
    requestTimeout: limit.requestTimeout,
    keepAliveTimeout: limit.keepAliveTimeout,
    connectionsCheckingInterval: limit.checkInterval,
    requireHostHeader: false, // ambiguity.ts says it in words, and the request is logged
  });
  server.maxRequestsPerSocket = limit.requestsPerConnection;
  server.timeout = limit.idleTimeout;
  server.maxHeadersCount = 0; // else the fields past the count vanish; the bytes are bounded

  function refused(socket: Duplex, { status }: Refusal, reason: string): void {
    const address = socket instanceof net.Socket ? socket.remoteAddress : undefined;
    log.info('refused', { status, reason, address });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    connections.begin(request, response);
    const refusal =
      request.httpVersionMajor !== 1
        ? OTHER_VERSION
        : (request.url ?? '').length > limit.targetBytes
          ? TARGET_TOO_LONG
          : undefined;
    if (refusal !== undefined) {
      refused(request.socket, refusal, 'request line');
      refuse(response, refusal);
      return;
    }
    try {
      await handler(request, response);
    } catch (error) {
      log.error('handler failed', { reason: error instanceof Error ? error.stack : String(error) });
      if (response.headersSent) response.destroy();
      else refuse(response, FAILED);
    }
  }

  async function connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const drop = () => socket.destroy(); // node:http has let go of the connection
    socket.on('error', drop);
    if (tunnel === undefined || !(socket instanceof net.Socket)) {
      refused(socket, NO_TUNNELS, 'CONNECT');
      connections.refuse(socket, NO_TUNNELS, clock);
      return;
    }
    await connections.settled(socket);
    if (!socket.writable) return;
    async function again(): Promise<void> {
      const bytes = await peek(socket, () => true, limit.keepAliveTimeout);
      socket.off('error', drop);
      if (bytes === undefined) socket.destroy();
      else server.emit('connection', socket);
    }
    try {
      await tunnel(http1Tunnel({ request, socket, head, connections, again: () => void again() }));
    } catch (error) {
      log.error('tunnel failed', { reason: error instanceof Error ? error.stack : String(error) });
      socket.destroy();
    }
  }

  server.on('connection', (socket) => connections.open(socket));
  server.on('request', (request, response) => void serve(request, response));
  server.on('checkContinue', (request, response) => {
    continueOnRead(request, response);
    void serve(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    connections.begin(request, response);
    refused(request.socket, UNMET_EXPECTATION, 'Expect');
    refuse(response, UNMET_EXPECTATION);
  });
  server.on('connect', (request, socket, head) => void connect(request, socket, head));
  server.on('clientError', (error: ClientError, socket) => {
    const refusal = clientErrors.judge(error, socket);
    if (refusal === undefined) return;
    if (connections.refuse(socket, refusal, clock)) {
      refused(socket, refusal, error.code ?? error.message);
    }
  });
  return server;
}
