import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { startEchoApplication } from './echo-application.ts';
import { overSockets, type SocketContender } from './socket-load.ts';

const PATH = '/there';
const FORGED = { Authorization: 'Bearer forged' };

type Admit = (request: IncomingMessage) => boolean;
type Answer = (socket: WebSocket, message: Buffer, wire: Socket) => void;

const sendBack: Answer = (socket, message) => socket.send(message);
const everybody: Admit = () => true;

/** A server on the package ws, and what loads it on two WebSockets. */
async function setup(answer = sendBack, admit = everybody, more: Partial<SocketContender> = {}) {
  const messages: Buffer[] = [];
  const server = createServer();
  const verifyClient = ({ req }: { req: IncomingMessage }) => admit(req);
  const sockets = new WebSocketServer({ server, verifyClient });
  sockets.on('connection', (socket, { socket: wire }) => {
    socket.on('message', (message: Buffer) => {
      messages.push(message);
      answer(socket, message, wire);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = { url, pids: [], [Symbol.asyncDispose]: async () => {} };
  const loaded = overSockets({ name: 'it', server: own, path: PATH, fields: {}, ...more }, 2);
  return {
    loaded,
    messages,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      await server[Symbol.asyncDispose]();
    },
  };
}

test('RFC 6455 section 5.3: messages of 64 octets go out masked, come back and are counted', async () => {
  const paths = new Set<string | undefined>();
  await using it = await setup(sendBack, ({ url }) => !!paths.add(url));
  const { count, errors } = await (await it.loaded.prepare(0.2))();
  expect([count, errors]).toEqual([it.messages.length, 0]);
  expect(new Set(it.messages.map(({ length }) => length))).toEqual(new Set([64]));
  expect(new Set(it.messages.map((message) => message.toString('hex'))).size).toBe(2);
  expect([...paths]).toEqual([PATH]);
});

test('a frame that comes in pieces is whole when its last octet is there', async () => {
  await using it = await setup((_, message, wire) => {
    wire.write(Buffer.of(0x82));
    setImmediate(() => {
      wire.write(Buffer.concat([Buffer.of(message.length), message.subarray(0, 9)]));
      setImmediate(() => wire.write(message.subarray(9)));
    });
  });
  const { count, errors } = await (await it.loaded.prepare(0.2))();
  expect([count, errors]).toEqual([it.messages.length, 0]);
});

test.each<[string, Answer]>([
  ['something else', (socket, message) => socket.send(message.map((octet) => octet ^ 1))],
  ['more than was sent', (socket, message) => socket.send(Buffer.concat([message, message]))],
  ['nothing, and the end', (socket) => socket.terminate()],
])('%s is an error, is not counted, and ends that WebSocket', async (_, answer) => {
  await using it = await setup((socket, message, wire) =>
    (it.messages.length > 1 ? answer : sendBack)(socket, message, wire),
  );
  const { count, errors } = await (await it.loaded.prepare(3600))();
  expect([count, errors]).toEqual([1, 2]);
});

test('who refuses what it has to let in is not measured', async () => {
  await using it = await setup(sendBack, () => false);
  await expect(it.loaded.probe()).rejects.toThrow('answered 401');
  await expect(it.loaded.prepare(1)).rejects.toThrow('answered 401');
});

test('what is forged has to be refused', async () => {
  const forged = { fields: {}, forged: FORGED };
  const right: Admit = ({ headers }) => headers.authorization !== FORGED.Authorization;
  await using strict = await setup(sendBack, right, forged);
  await strict.loaded.probe();
  await using lax = await setup(sendBack, everybody, forged);
  await expect(lax.loaded.probe()).rejects.toThrow('it gave a WebSocket to what is forged');
});

test('the application gives back what the package ws sends, also two messages at once', async () => {
  await using application = await startEchoApplication();
  const socket = new WebSocket(application.url, { perMessageDeflate: false });
  await once(socket, 'open');
  const sent = [Buffer.from('first'), Buffer.alloc(125, 7), Buffer.alloc(0)];
  const came: Buffer[] = [];
  socket.on('message', (message: Buffer) => came.push(message));
  for (const message of sent) socket.send(message);
  while (came.length < sent.length) await once(socket, 'message');
  expect(came).toEqual(sent);
  socket.terminate();
});

test('the application ends a connection that its other side has ended', async () => {
  await using application = await startEchoApplication();
  const socket = new WebSocket(application.url);
  const [{ socket: wire }] = (await once(socket, 'upgrade')) as [{ socket: Socket }];
  wire.end();
  await once(wire, 'close');
});
