import { type AddressInfo, createServer, type Socket } from 'node:net';

const FINAL = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const WHOLE = `${FINAL}content-length: 2\r\nconnection: close\r\n\r\n{}`;
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';

/** Complete answers after interim ones (RFC 9110 section 15.2). */
export const BEHIND_OTHERS = {
  'one of 103': (socket) => socket.end(HINTS + WHOLE),
  'three of 102': (socket) => socket.end('HTTP/1.1 102 Processing\r\n\r\n'.repeat(3) + WHOLE),
} satisfies Answers;

/** Broken answers, each with the expected message. */
export const BROKEN = {
  'interim ones alone': [(socket) => socket.end(HINTS), 'other side closed'],
  'another protocol that nobody asked for': [
    (socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    'bad upgrade',
  ],
  'interim ones without an end': [
    (socket) => {
      const more = setInterval(() => socket.write(HINTS), 5);
      socket.once('close', () => clearInterval(more));
    },
    'timeout',
  ],
  'less than its length, closed': [
    (socket) => socket.end(`${FINAL}content-length: 99\r\n\r\n{}`),
    'other side closed',
  ],
  'less than its length, then silence': [
    (socket) => socket.write(`${FINAL}content-length: 99\r\n\r\n{}`),
    'timeout',
  ],
  'without its last chunk': [
    (socket) => socket.end(`${FINAL}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`),
    'other side closed',
  ],
} satisfies Readonly<Record<string, readonly [Answer, string]>>;

type Answer = (socket: Socket) => unknown;
type Answers = Readonly<Record<string, Answer>>;

/** Starts a server that gives this answer to every request. */
export async function answering(answer: Answer) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
