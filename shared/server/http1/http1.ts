import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { type Awaitable, recover } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import { atTurnsEnd } from '#shared/base/turn.ts';
import { ambiguous } from '../client-errors/ambiguity.ts';
import {
  type ClientError,
  ClientErrors,
  isOfParser,
  OTHER_VERSION,
  targetOf,
  TOO_SLOW,
} from '../client-errors/client-error.ts';
import { type Connections, endGently } from '../limits/connections.ts';
import { excess, leftover } from '../client-errors/excess.ts';
import { continueOnRead } from '../message/expect.ts';
import { Http1Response } from '../message/http1-response.ts';
import { headOf, holdBack, isHeld, readAsStream, readOn } from './hold-back.ts';
import type { LastRequests } from './last-requests.ts';
import { discardLeftover } from './leftover.ts';
import type { Pace } from '../limits/pace.ts';
import { peek } from './peek.ts';
import {
  FAILED,
  LENGTH_REQUIRED,
  noTunnel,
  type ConnectionError,
  type RefusalAt,
  type Refused,
  refuse,
  refused,
  UNMET_EXPECTATION,
} from '../message/connection-error.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';
import { isHandshake, isHeadAlone } from '#shared/http/web-socket.ts';
import { http1Tunnel, type TunnelHandler } from '../tunnels/tunnel.ts';
import { isReadable } from '../client-errors/unknown-method.ts';
import { attend, http1Upgrade } from '../tunnels/upgrade.ts';
import { nextTick } from '#shared/base/safe-timers.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Awaitable<void>;

export interface Http1Parts {
  readonly handler: Handler;
  readonly tunnel?: TunnelHandler | undefined;
  /** True if clients that `tunnel` does not admit must not notice that the server has tunnels. */
  readonly seemsNone?: boolean | undefined;
  /** True if a request may become a WebSocket. */
  readonly webSockets: boolean;
  /** Aborted when the server is about to end. */
  readonly ending: AbortSignal;
  readonly connections: Connections;
  readonly lasts: LastRequests;
  readonly limit: ServerLimits;
  readonly pace: Pace;
  /**
   * True if the port supports HTTP/2, too: octets that resemble its preface are then a request with the method PRI.
   */
  readonly besideHttp2: boolean;
  readonly refusalAt?: RefusalAt | undefined;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
}

/** Creates a server of HTTP/1.0 and HTTP/1.1 that does not listen yet. */
export function http1Server(parts: Http1Parts): Server {
  const { handler, tunnel, seemsNone, webSockets, ending, connections, lasts } = parts;
  const { limit, pace, log, clock, random } = parts;
  const { refusalAt = (_target, refusal) => refusal } = parts;
  const clientErrors = new ClientErrors(parts.besideHttp2);
  const server = http.createServer({
    ServerResponse: Http1Response,
    maxHeaderSize: limit.headerBytes,
    headersTimeout: limit.headersTimeout,
    requestTimeout: limit.requestTimeout,
    keepAliveTimeout: limit.keepAliveTimeout,
    connectionsCheckingInterval: limit.checkInterval,
    requireHostHeader: false, // client-errors/ambiguity.ts reports it in words, and the request is logged
    shouldUpgradeCallback: standsApart,
    optimizeEmptyRequests: true, // no handler waits for the end of absent content
  });
  server.maxRequestsPerSocket = limit.requestsPerConnection;
  server.timeout = limit.idleTimeout;
  // RFC 9112 section 9.6: half-closed connections are served, except at a proxy, whose client may no longer wait for
  // the answer.
  const allowsHalf = tunnel === undefined || seemsNone === true;
  Object.assign(server, { httpAllowHalfOpen: allowsHalf });
  server.maxHeadersCount = 0; // otherwise fields over the count vanish; the size is limited anyway

  function tell(socket: Duplex, { id, status }: Refused, reason: string): void {
    const address = socket instanceof net.Socket ? socket.remoteAddress : undefined;
    log.info('refused', { id, status, reason, address });
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    lasts.name(request, response);
    const begun = connections.begin(request, response);
    if (begun >= limit.requestsPerConnection) lasts.end(request, response);
  }

  /** `wait` starts the time limit for a client that sends content. */
  function serve(request: IncomingMessage, response: ServerResponse, wait: typeof hurry): void {
    if (request.headers.upgrade !== undefined) lasts.end(request, response); // see `standsApart`
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      const told = refused(refusal, random, request);
      tell(request.socket, told, refusal.detail);
      return end(request, response, told);
    }
    work(request, response, () => {
      // Short content has usually arrived by now, together with its header section.
      if (request.complete || !hasContent(request)) return;
      wait(request);
      discardLeftover(request, response, leftover(request, limit), () => endGently(request.socket));
    });
  }

  function work(request: IncomingMessage, response: ServerResponse, before?: () => void): void {
    const failed = (error: unknown) => {
      const told = refused(FAILED, random, request);
      log.error('handler failed', {
        id: told.id,
        reason: error instanceof Error ? error.stack : String(error),
      });
      if (response.headersSent) response.destroy();
      else refuse(response, told);
    };
    const carryOut = () => {
      before?.();
      return handler(request, response);
    };
    atTurnsEnd(() => void recover(carryOut, failed), failed);
  }

  function refusalOf(request: IncomingMessage): ConnectionError | undefined {
    if (request.httpVersionMajor !== 1) return OTHER_VERSION;
    const refusal = ambiguous(request) ?? excess(request, limit) ?? unknownLength(request);
    return refusal && refusalAt(request.url ?? '', refusal);
  }

  /** Makes the answer the last one of the connection, even if the client still sends content. */
  function end(request: IncomingMessage, response: ServerResponse, told: Refused): void {
    lasts.add(request.socket);
    const waits = request.headers.expect !== undefined; // the client waits until its content is requested
    if (waits || !hasContent(request)) return refuse(response, told);
    request.resume();
    connections.refuse(request.socket, told, clock);
  }

  function hurry(request: IncomingMessage): void {
    pace.watch(request, () => {
      const told = refused(TOO_SLOW, random, request);
      if (connections.refuse(request.socket, told, clock)) {
        tell(request.socket, told, 'slow content');
      }
    });
  }

  /**
   * True if this server must itself read the octets after a request with Upgrade, which node:http would lose. A
   * request that would be refused in any case is refused as an ordinary request.
   */
  function standsApart(request: IncomingMessage): boolean {
    return isHeadAlone(request) && !lasts.has(request.socket) && refusalOf(request) === undefined;
  }

  /**
   * True if a request stays unparsed. `stops`: the parser stops after it in any case, and then `connect` or `upgrade`
   * waits.
   */
  function staysOctets(request: IncomingMessage, stops: boolean): boolean {
    if (isOver(request.socket)) return true;
    if (!connections.waits(request)) return false;
    return !stops || (request.method !== 'CONNECT' && !standsApart(request));
  }

  /** True if the connection carries no further requests. */
  function isOver(socket: Duplex): boolean {
    return lasts.ended(socket) || !socket.writable;
  }

  async function connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const release = adopt(socket);
    if (isOver(socket)) return discard(socket);
    const unclear = ambiguous(request);
    const decline = () => {
      const refusal = unclear ?? noTunnel(request.url);
      const told = refused(refusal, random, request);
      tell(socket, told, refusal.detail);
      connections.refuse(socket, told, clock);
    };
    if (unclear !== undefined || tunnel === undefined || !(socket instanceof net.Socket)) {
      return decline();
    }
    await connections.settled(socket);
    if (!socket.writable) return;
    const again = () => takeAgain(socket, release);
    try {
      await tunnel(http1Tunnel({ request, socket, head, connections, again, decline }));
    } catch (error) {
      log.error('tunnel failed', { reason: error instanceof Error ? error.stack : String(error) });
      socket.destroy();
    }
  }

  /** Handles a request with Upgrade, and a held-back request. */
  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const release = adopt(socket);
    if (isOver(socket)) return discard(socket);
    if (!(socket instanceof net.Socket)) return;
    // The octets of a held-back request are put first; otherwise the end of the connection could be reported before
    // the request.
    const octets = isHeld(request) ? Buffer.concat([headOf(request), head]) : head;
    const letGo = attend(socket, octets, () => {
      if (allowsHalf) connections.halve(socket);
    });
    await connections.settled(socket);
    if (!socket.writable || isHeld(request)) letGo();
    if (!socket.writable) return discard(socket);
    if (isHeld(request)) return putBack(socket, release);
    const again = () => takeAgain(socket, release);
    const opens = webSockets && isHandshake(request);
    const response = http1Upgrade({ request, opens, socket, letGo, connections, ending, again });
    work(request, response);
  }

  /** Gives the connection back to node:http, which continues to read. */
  function giveBack(socket: net.Socket): void {
    server.emit('connection', socket);
    readAsStream(socket);
  }

  /**
   * Watches a connection that node:http has released: closes it if it is lost, or if its client does not read an
   * answer. The returned function stops this.
   */
  function adopt(socket: Duplex): () => void {
    const drop = () => socket.destroy();
    const drained = () => connections.drained(socket);
    socket.on('error', drop).on('timeout', drop).on('drain', drained);
    readOn(socket);
    return () => socket.off('error', drop).off('timeout', drop).off('drain', drained);
  }

  /** Discards further octets of the connection: the answer under way is the last. */
  function discard(socket: Duplex): void {
    Object.assign(socket, { destroySoon: () => endGently(socket) }); // node:http calls this to end the connection
    if (!socket.writable) socket.resume();
  }

  /** Starts a held-back request like any other request. */
  function putBack(socket: net.Socket, release: () => void): void {
    const put = () => {
      if (isOver(socket)) return discard(socket);
      release();
      giveBack(socket);
    };
    nextTick(put); // a stream removes its listeners only then
  }

  /** Gives the connection back, since it may carry another request. */
  function takeAgain(socket: net.Socket, release: () => void): void {
    const take = (bytes: Buffer) => {
      release();
      if (bytes.length === 0) return socket.destroy();
      giveBack(socket);
      return socket.unshift(bytes);
    };
    if (socket.readableEnded) return void socket.destroy();
    peek(socket, () => true, limit.keepAliveTimeout, take);
  }

  server.on('connection', (socket) => {
    const known = connections.open(socket);
    holdBack(socket, staysOctets);
    if (allowsHalf && !known) socket.once('end', () => connections.halve(socket));
  });
  server.on('request', (request, response) => {
    begin(request, response);
    serve(request, response, hurry);
  });
  server.on('checkContinue', (request, response) => {
    begin(request, response);
    continueOnRead(request, response, () => hurry(request));
    serve(request, response, () => {});
  });
  server.on('checkExpectation', (request, response) => {
    begin(request, response);
    lasts.add(request.socket);
    const told = refused(refusalAt(request.url ?? '', UNMET_EXPECTATION), random, request);
    tell(request.socket, told, 'Expect');
    refuse(response, told);
  });
  server.on('connect', (request, socket, head) => void connect(request, socket, head));
  server.on('upgrade', (request, socket, head) => void upgrade(request, socket, head));
  server.on('clientError', (error: ClientError, socket) => {
    const refusal = clientErrors.judge(error, socket);
    if (refusal === undefined && !isOfParser(error)) socket.destroy(); // the connection is lost
    if (refusal === undefined) return;
    const toldThere = refusalAt(targetOf(error), refusal);
    const told = refused(toldThere, random, connections.unread(socket));
    if (connections.refuse(socket, told, clock)) {
      tell(socket, told, error.code ?? error.message);
    }
  });
  return server;
}

/** Refuses chunked content with a method that the parser of node:http cannot read. */
function unknownLength({ method = '', headers }: IncomingMessage): ConnectionError | undefined {
  if (headers['transfer-encoding'] === undefined || isReadable(method)) return undefined;
  return LENGTH_REQUIRED;
}

function hasContent({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
