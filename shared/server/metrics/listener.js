import { once } from 'node:events';
import { createServer } from 'node:http';
import { isLoopback, namesMachine } from '#shared/http/loopback.js';
import { TEXT_FORMAT } from './text-format.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { Clock } from '#shared/base/clock.ts' */

/**
 * @typedef {{ readonly host: string, readonly port: number }} MetricsAddress
 * @typedef {AddressInfo & { close(): void }} MetricsListening
 */

/** Milliseconds for which a text is given again, so that many scrapes cost the workers no more than one. */
const FRESH = 1000;
/** Milliseconds for a whole request and its answer: a client that sends or reads more slowly is dropped. */
const PATIENCE = 10_000;
const CONNECTIONS = 32;
const HEADER_BYTES = 8192;
const PATH = '/metrics';

/** Fields of every answer. */
const FIELDS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/**
 * Serves `text` at `/metrics`, and nothing else. A rejected text is 503. Rejects with the system's error, such as
 * EADDRINUSE. `clock.now` is in milliseconds.
 * @param {MetricsAddress} address
 * @param {() => Promise<string>} text
 * @param {Pick<Clock, 'now'>} clock
 * @returns {Promise<MetricsListening>}
 */
export async function listenForMetrics({ host, port }, text, clock) {
  const current = fresh(text, clock);
  /** Connections with a request that has no answer yet. */
  const asking = new WeakSet();
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES,
      requestTimeout: PATIENCE,
      headersTimeout: PATIENCE,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      const { socket } = request;
      // RFC 9112 section 9.3.2: one packet may bring a thousand requests, whose answers nobody reads.
      if (asking.has(socket)) return void socket.destroy();
      asking.add(socket);
      response.once('close', () => asking.delete(socket));
      return void answer(request, response, current);
    },
  );
  server.maxConnections = CONNECTIONS;
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  const address = /** @type {AddressInfo} */ (server.address());
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { ...address, close };
}

/**
 * The text, made once for all who ask at the same time and for those who ask within a second.
 * @param {() => Promise<string>} text
 * @param {Pick<Clock, 'now'>} clock
 */
function fresh(text, clock) {
  /** @type {{ readonly made: number, readonly text: Promise<string> } | undefined} */
  let last;
  return () => {
    if (last === undefined || Math.abs(clock.now() - last.made) >= FRESH) {
      last = { made: clock.now(), text: text() };
    }
    return last.text;
  };
}

/**
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {() => Promise<string>} current
 */
async function answer(request, response, current) {
  const timer = setTimeout(() => response.destroy(), PATIENCE);
  response.once('close', () => clearTimeout(timer));
  const refused = refusalOf(request);
  if (refused !== undefined) {
    const [status, fields] = refused;
    response.writeHead(status, { ...FIELDS, ...fields, Connection: 'close' }).end();
    return;
  }
  try {
    const body = Buffer.from(await current());
    const length = { 'Content-Type': TEXT_FORMAT, 'Content-Length': body.length };
    response.writeHead(200, { ...FIELDS, ...length });
    response.end(request.method === 'HEAD' ? undefined : body);
  } catch {
    response.writeHead(503, { ...FIELDS, 'Retry-After': '1', Connection: 'close' }).end();
  }
}

/**
 * Returns the status and the fields of a refusal.
 * @param {IncomingMessage} request
 * @returns {[status: number, fields?: Record<string, string>] | undefined}
 */
function refusalOf({ method, url, headers, headersDistinct, socket }) {
  // RFC 9112 section 3.2.
  if ((headersDistinct['host'] ?? []).length > 1) return [400];
  const { host } = headers;
  const local = socket.localAddress?.replace(/^::ffff:/, '') ?? '';
  if (host !== undefined && isLoopback(local) && !namesMachine(host)) return [421];
  if (url?.split('?', 1)[0] !== PATH) return [404];
  if (method !== 'GET' && method !== 'HEAD') return [405, { Allow: 'GET, HEAD' }];
  // RFC 9110 section 9.3.1: content of GET means nothing, and none is read here.
  const content = headers['transfer-encoding'] ?? headers['content-length'] ?? '0';
  return content === '0' ? undefined : [413];
}
