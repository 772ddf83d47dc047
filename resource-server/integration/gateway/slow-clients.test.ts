import http2 from 'node:http2';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { startApplication, startGateway } from '../gateway.fixture.ts';

const from = (address: string) => ({ 'X-Forwarded-For': address });

/**
 * Sends the head of a request and some of its content, and reads nothing. Returns whether the server ended the request.
 */
type Slow = (port: number, method: string, path: string, address: string) => () => boolean;

const overHttp1: Slow = (port, method, path, address) => {
  const socket = connect(port, '127.0.0.1').pause();
  let isOver = false;
  socket.on('error', () => (isOver = true)).on('close', () => (isOver = true));
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: rs.example\r\nX-Forwarded-For: ${address}\r\n` +
      (method === 'POST' ? 'Content-Length: 1000\r\n\r\nso' : '\r\n'),
  );
  // A socket that does not read gets no end event.
  return () => {
    if (method === 'POST') socket.resume().on('data', () => (isOver = true));
    return isOver;
  };
};

const overHttp2: Slow = (port, method, path, address) => {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const stream = session.request({
    ':method': method,
    ':path': path,
    ':authority': 'rs.example',
    ...from(address),
  });
  let isOver = false;
  stream.on('error', () => {}).on('close', () => (isOver = true));
  stream.on('response', () => (isOver ||= method === 'POST'));
  if (method === 'POST') stream.write('so');
  else stream.end();
  stream.pause();
  return () => isOver;
};

test.each([
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
])(
  'a slow upload or download is ended for other clients, but an event stream is not: %s',
  async (_, slow) => {
    let streams = 0;
    await using application = await startApplication((request, response) => {
      const { url = '' } = request;
      if (url === '/long') response.end(Buffer.alloc(64 * 1024 * 1024));
      else if (url === '/events') {
        const timer = setInterval(() => response.write(':\n\n'), 100);
        streams += 1;
        response.once('close', () => {
          clearInterval(timer);
          streams -= 1;
        });
      } else request.resume().once('end', () => response.end('answer'));
    });
    await using gateway = await startGateway({
      shop: {
        upstream: { url: application.url, connections: 3, timeout: 2 },
        schemes: [],
        scopes: {},
        methods: ['GET', 'POST'],
      },
    });
    const { port } = gateway.listening;
    const ask = (path: string, address: string) =>
      gateway.ask('GET', `/shop${path}`, { headers: from(address) });
    const isSent = slow(port, 'POST', '/shop/x', '192.0.2.1');
    const isTaken = slow(port, 'GET', '/shop/long', '192.0.2.2');
    const listen = (n: number) => slow(port, 'GET', '/shop/events', `192.0.2.${n}`);
    listen(3);
    await eventually(() => expect(streams).toBe(1));

    expect((await ask('/x', '192.0.2.4')).text).toBe('answer');
    listen(5);
    listen(6);
    await eventually(() => expect(streams).toBe(3));
    expect((await ask('/x', '192.0.2.7')).status).toBe(503);
    expect(streams).toBe(3);
    if (slow === overHttp2) await eventually(() => expect(isTaken()).toBe(true));
    await eventually(() => expect(isSent()).toBe(true));
    await gateway.listening.close(0);
  },
);
