import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The destination of tunnels, in this process. */
export interface Destination extends AsyncDisposable {
  /** Host and port of one that says a byte and ends. */
  readonly greeting: string;
  /** Host and port of one that sends without end once it was sent anything. */
  readonly source: string;
}

const CHUNK = Buffer.alloc(65_536, 'x');

/** It ends when the tunnels to it have ended. */
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
