import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Standing, Who } from '#shared/auth/standing/standing.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { keyOf } from '#shared/http/web-socket.ts';
import { LINGER } from '#shared/server/limits/connections.ts';
import { requestId } from '#shared/server/message/request-log.ts';
import type { Side } from '#shared/server/tunnels/tunnel.ts';
import type { Upgrade } from '#shared/server/tunnels/upgrade.ts';
import type { Holder } from '../../space/account.ts';
import { createInShares } from '../../exchange/at-most.ts';
import type { Lines } from '../../forwarding/fields.ts';
import type { PassingAnswer } from '../../forwarding/passing-answer.ts';
import type { Sent } from '../../forwarding/send-by-node.ts';
import { breakOff } from '../../answers/side.ts';
import { type Flow, relay, type TunnelTimes } from '../../forwarding/relay.ts';
import { type Opened, shakeHands } from './handshake.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';
import type { Writable } from 'node:stream';
import { Frames } from './frames.ts';

/**
 * Seconds without a byte after which the second side is closed, once the first has ended. By then both sides have sent
 * a Close (RFC 6455 section 7.1.1), and data on its way still arrives.
 */
const HALF = 10;

export interface WebSocketLimits extends Omit<TunnelTimes, 'half'> {
  /** The most open WebSockets. */
  readonly most: number;
}

export interface WebSocketParts {
  readonly standing: Standing;
  readonly random: Random;
  readonly log: Log;
}

/** An admitted handshake. */
export interface Handshake {
  readonly upgrade: Upgrade;
  /** The request to send, without fields of its connection. */
  readonly sent: Sent;
  readonly passing: PassingAnswer;
  /** The holders of the WebSocket, by whom it is counted. */
  readonly holders: readonly Holder[];
  /** Undefined: the space has no authentication. */
  readonly who: Who | undefined;
  /**
   * Called if the application answers the handshake with an ordinary answer. The answer then ends with the token or key
   * that admitted the client.
   */
  readonly watch: (() => void) | undefined;
}

/** The WebSockets of one space. */
export interface WebSockets {
  /**
   * Resolves when a WebSocket is open, or the application's other answer has begun. Rejects before that with HttpError
   * 502, 503 or 504, or BadRequest.
   */
  open(handshake: Handshake): Promise<void>;
}

export function createWebSockets(
  name: string,
  { most, ...times }: WebSocketLimits,
  { standing, random, log }: WebSocketParts,
): WebSockets {
  const inShares = createInShares(`web sockets ${name}`, most);

  /** Opens the client's side. Throws if the client has left, or cannot get the answer. */
  function openTo({ upgrade, passing }: Handshake, { answer, socket }: Opened): Side {
    try {
      if (!passing.wanted) throw new Error('The client has left.');
      const fields = passing.switched(answer);
      if (upgrade.extended) delete fields['sec-websocket-accept']; // RFC 8441 section 5
      return upgrade.open(fields);
    } catch (error) {
      breakOff(socket);
      throw error;
    }
  }

  /** Relays until one side ends, a time limit passes, the server ends, or the client's access is revoked. */
  async function carry(
    { sent, upgrade: { ending }, who }: Handshake,
    side: Side,
    socket: Socket,
  ): Promise<void> {
    const outflow = new Outflow();
    let timer: NodeJS.Timeout | undefined;
    let ended: string | undefined;
    function end(reason: string): void {
      ended = reason;
      breakOff(socket);
    }
    function leave(): void {
      ended = 'shutdown';
      outflow.leave();
      timer = setTimeout(end, LINGER, ended);
    }
    const stop = who && standing.watch(who, 'expired', end);
    const limits = { ...times, half: HALF };
    const relayed = relay(side, socket, outflow, limits, constants.NGHTTP2_CANCEL);
    if (ending.aborted) leave();
    else ending.addEventListener('abort', leave);
    const over = await relayed;
    ending.removeEventListener('abort', leave);
    clearTimeout(timer);
    stop?.();
    const { bytesRead: received, bytesWritten } = socket;
    const id = requestId(sent.request);
    log.info('websocket', { id, end: ended ?? over, received, sent: bytesWritten });
  }

  return {
    open: (handshake) =>
      new Promise((resolve, reject) => {
        const { sent, upgrade, passing, holders, watch } = handshake;
        const run = async () => {
          const key = upgrade.extended
            ? random(16).toString('base64')
            : keyOf(sent.request.rawHeaders);
          if (key === undefined)
            throw new BadRequest('One Sec-WebSocket-Key with 16 octets is needed.');
          const asked = { ...sent, lines: handshakeLines(sent.lines, key) };
          const opened = await shakeHands(asked, { key, extended: upgrade.extended }, passing);
          if ('over' in opened) {
            watch?.();
            resolve();
            return opened.over; // until then the answer holds its place, as a WebSocket would
          }
          const side = openTo(handshake, opened);
          resolve();
          return carry(handshake, side, opened.socket);
        };
        inShares(holders, run).catch(reject);
      }),
  };
}

/** Adds the key to be verified, and the fields of a handshake. */
function handshakeLines(given: Lines, key: string): Lines {
  return [
    ...given.filter(([name]) => name.toLowerCase() !== 'sec-websocket-key'),
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Key', key],
  ];
}

/** A Close frame with status 1001, going away (RFC 6455 sections 5.5.1 and 7.4.1). A server does not mask frames. */
const GOING_AWAY = Buffer.of(0x88, 2, 0x03, 0xe9);

/** Passes on the octets of an application as fast as its client reads them. */
class Outflow implements Flow {
  readonly #frames = new Frames();
  #sayGoodbye = () => {};
  #leaving = false;

  start(from: Socket, to: Writable): void {
    from.pipe(to);
    this.#sayGoodbye = () => {
      if (!this.#leaving || !this.#frames.between || to.writableEnded) return;
      from.unpipe(to).resume(); // nothing follows a Close
      to.end(GOING_AWAY);
    };
    from.on('data', (piece: Buffer) => {
      this.#frames.read(piece);
      this.#sayGoodbye();
    });
  }

  /**
   * Sends a Close frame to the client as soon as the current frame is complete. The client's answer goes to the
   * application.
   */
  leave(): void {
    this.#leaving = true;
    this.#sayGoodbye();
  }
}
