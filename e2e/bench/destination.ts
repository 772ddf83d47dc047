import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The destination of tunnels, as servers in this process. */
export interface Destination extends AsyncDisposable {
  /** Host and port of a server that sends one byte and closes. */
  readonly greeting: string;
  /** Host and port of a server that sends endlessly after the first byte. */
  readonly source: string;
}

const CHUNK = Buffer.alloc(65_536, 'x');

/** Starts the servers. They end when their tunnels have ended. */
export async function startDestination(): Promise<Destination> {
  const stack = new AsyncDisposableStack();
  async function open(serve: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy()).resume();
      serve(socket);
    });
    stack.use(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  function send(socket: Socket): void {
    while (socket.write(CHUNK));
  }
  return {
    greeting: await open((socket) => socket.end('x')),
    source: await open((socket) => {
      socket.once('data', () => send(socket)).on('drain', () => send(socket));
    }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
