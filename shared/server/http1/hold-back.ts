import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A connection of node:http, with members that its published types lack. */
interface Parsed extends Socket {
  readonly parser: { onIncoming(request: Held, keepAlive: boolean): number };
}

/** If this member is set, node:http gives the request and its connection to `upgrade`. */
type Held = IncomingMessage & { upgrade?: unknown };

const HELD = Symbol('held');
/** Tells the parser that the octets after this header section are not HTTP, so that the parser stops there. */
const STOP = 2;

/**
 * THE rule of pipelining: the server parses only requests that it begins; later requests stay octets. Otherwise
 * node:http would make objects of all requests of a read (64 KiB become two megabytes) and keep them until their
 * answers are read. If `waits` returns true for a request, the parser stops after its header section, and `upgrade`
 * gets the request. `stops`: the parser stops there in any case, since the request is CONNECT or has Upgrade.
 */
export function holdBack(
  socket: Socket,
  waits: (request: IncomingMessage, stops: boolean) => boolean,
): void {
  const { parser } = socket as Parsed;
  const begin = parser.onIncoming;
  parser.onIncoming = (request, keepAlive) => {
    if (!waits(request, request.upgrade === true)) return begin(request, keepAlive);
    request.upgrade = HELD;
    return STOP;
  };
}

/**
 * Tells node:http to read a returned connection as a stream. Otherwise it would read another 64 KiB at each `resume`,
 * even if the stream has much unread data.
 */
export function readAsStream(socket: Socket): void {
  const nobody = () => {};
  socket.on('data', nobody).off('data', nobody);
}

/**
 * Starts to read a connection that node:http has released. During a long content node:http may have stopped reading
 * without the stream's knowledge.
 */
export function readOn(socket: Duplex): void {
  if (socket.readableLength < socket.readableHighWaterMark) socket._read(0);
}

export function isHeld(request: Held): boolean {
  return request.upgrade === HELD;
}

/** Writes the header section of a request as octets, which the parser reads as the same request. */
export function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    head += `${rawHeaders[at]}:${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}
