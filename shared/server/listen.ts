import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { type ClientError, ClientErrors, OTHER_VERSION, TARGET_TOO_LONG } from './client-error.ts';
import { Connections } from './connections.ts';
import { continueOnRead } from './expect.ts';
import { type Refusal, refuse } from './refusal.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Bytes, milliseconds, and requests. */
export interface ServerLimits {
  /** Request line and header section together. */
  readonly headerBytes: number;
  readonly targetBytes: number;
  /** Until the header section is complete. */
  readonly headersTimeout: number;
  /** Until the content is complete. */
  readonly requestTimeout: number;
  /** Without a byte in either direction while a request is under way. */
  readonly idleTimeout: number;
  /** Between two requests: longer than a load balancer waits (60 s), so that it is the one to close. */
  readonly keepAliveTimeout: number;
  /** How often the first two timeouts are looked at. */
  readonly checkInterval: number;
  readonly requestsPerConnection: number;
}

const LIMITS: ServerLimits = {
  headerBytes: 16_384,
  targetBytes: 8192, // RFC 9112 section 3 asks for 8000 at least
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  idleTimeout: 120_000,
  keepAliveTimeout: 75_000,
  checkInterval: 5000,
  requestsPerConnection: 10_000,
};

const NO_TUNNELS: Refusal = { status: 501, detail: 'This server makes no tunnels.' };
const UNMET_EXPECTATION: Refusal = {
  status: 417,
  detail: 'The only expectation that is met here is 100-continue.',
};
const FAILED: Refusal = {
  status: 500,
  detail: 'The server could not do this. The reason is in its log.',
};

export interface Listening extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
  readonly server: http.Server;
  /**
   * Stops accepting, closes idle connections, lets requests in flight finish, and destroys what is
   * left after `graceMs` milliseconds. Resolves when no connection is left.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Serves HTTP/1.1 on a TCP port; 0 picks a free one. Rejects with the system's error, whose `code`
 * is for example EADDRINUSE. The handler sees requests of HTTP/1.x with a target of tolerable
 * length; what it has to refuse besides is in ambiguity.ts.
 */
export async function listen({
  host,
  port,
  handler,
  log,
  limits,
  clock = systemClock,
}: {
  readonly host: string;
  readonly port: number;
  readonly handler: Handler;
  readonly log: Log;
  readonly limits?: Partial<ServerLimits>;
  readonly clock?: Clock;
}): Promise<Listening> {
  const limit = { ...LIMITS, ...limits };
  const connections = new Connections();
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
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy()); // node:http has let go of it
    socket.resume();
    refused(socket, NO_TUNNELS, 'CONNECT');
    connections.refuse(socket, NO_TUNNELS, clock);
  });
  server.on('clientError', (error: ClientError, socket) => {
    const refusal = clientErrors.judge(error, socket);
    if (refusal === undefined) return;
    if (connections.refuse(socket, refusal, clock)) {
      refused(socket, refusal, error.code ?? error.message);
    }
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;

  let closed: Promise<void> | undefined;
  async function shut(graceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    // http.Server.close would cut off answers that are written but not yet sent.
    net.Server.prototype.close.call(server, () => resolve());
    connections.close();
    const timer = setTimeout(() => connections.destroy(), graceMs);
    await promise;
    clearTimeout(timer);
    server.close(); // stops the timer of its timeouts
  }
  const close = (graceMs: number) => (closed ??= shut(graceMs));

  return {
    address: bound.address,
    port: bound.port,
    server,
    close,
    [Symbol.asyncDispose]: () => close(0),
  };
}
