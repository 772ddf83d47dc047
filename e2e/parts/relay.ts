import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A network between a client and a port of this machine, which can be divided. */
export interface Relay extends AsyncDisposable {
  readonly url: string;
  /** From now on nothing passes, in either direction, and nobody is told. */
  divide(): void;
  /** Lets the octets on their way arrive. */
  heal(): void;
}

export async function startRelay(port: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let divided = false;

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on('data', (octets) => to.write(octets));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    if (divided) from.pause();
  }

  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    join(client, upstream);
    join(upstream, client);
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
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
