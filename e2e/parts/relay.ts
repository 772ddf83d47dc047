import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A piece from the client, or from the port. */
type Side = 'question' | 'answer';

/** A relay between a client and a port of this machine, which can be cut. */
export interface Relay extends AsyncDisposable {
  readonly url: string;
  /** Stops all traffic in both directions, without closing connections. */
  divide(): void;
  /** Delivers the held octets. */
  heal(): void;
  /** Closes all connections. New connections lead to another port. */
  lead(port: number): void;
  /** Delays each direction by this many milliseconds from now on. */
  delay(milliseconds: number): void;
  /**
   * Closes all connections after this many more pieces of a client: before the last piece arrives, or
   * before its answer.
   */
  cut(pieces: number, before: 'question' | 'answer'): void;
}

export async function startRelay(first: number): Promise<Relay> {
  let port = first;
  const sockets = new Set<Socket>();
  let divided = false;
  let late = 0;
  let left = Infinity;
  let cutsAt: Side = 'question';

  const end = () => {
    left = Infinity;
    for (const socket of sockets) socket.destroy();
  };

  function join(from: Socket, to: Socket, side: Side): void {
    sockets.add(from);
    from.on('data', (octets) => {
      if (side === 'question') left -= 1;
      if (left <= 0 && side === cutsAt) return end();
      if (late > 0) setTimeout(() => to.write(octets), late);
      else to.write(octets);
    });
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    if (divided) from.pause();
  }

  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    join(client, upstream, 'question');
    join(upstream, client, 'answer');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    divide() {
      divided = true;
      for (const socket of sockets) socket.pause();
    },
    heal() {
      divided = false;
      for (const socket of sockets) socket.resume();
    },
    lead(next) {
      port = next;
      end();
    },
    delay(milliseconds) {
      late = milliseconds;
    },
    cut(pieces, before) {
      left = pieces;
      cutsAt = before;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
