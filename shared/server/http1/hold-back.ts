import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A connection of node:http, with members that its types do not show. */
interface Parsed extends Socket {
  readonly parser: { onIncoming(request: Held, keepAlive: boolean): number };
}

/** With this member a request is given to `upgrade`, and its connection with it. */
type Held = IncomingMessage & { upgrade?: unknown };

const HELD = Symbol('held');
/** To the parser: what comes behind this header section is not HTTP. So it stops there. */
const STOP = 2;

/**
 * THE rule of pipelining: a request begins when it is read, or it stays octets. node:http would make objects of all
 * requests of a read before it could be stopped: two megabytes of 64 KiB, and keep them until their answers are read.
 *
 * If `waits` says so of a request, the parser stops behind its header section, and `upgrade` gets it. `stops`: it
 * stops there in any case, since the request is CONNECT or has Upgrade.
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
 * Tells node:http that it gets a connection back by its stream. Else it would read another 64 KiB at each `resume`,
 * however much the stream has.
 */
export function readAsStream(socket: Socket): void {
  const nobody = () => {};
  socket.on('data', nobody).off('data', nobody);
}

/**
 * Starts to read a connection that node:http has let go of. It may have stopped reading for long content of a request
 * before, which the stream does not know.
 */
export function readOn(socket: Duplex): void {
  if (socket.readableLength < socket.readableHighWaterMark) socket._read(0);
}

export function isHeld(request: Held): boolean {
  return request.upgrade === HELD;
}

/** The header section of a request as octets that the parser reads as the same request, and no more of them. */
export function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    head += `${rawHeaders[at]}:${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}
