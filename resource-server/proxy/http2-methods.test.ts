import http2, { type ClientHttp2Session } from 'node:http2';
import { afterEach, describe, expect, test } from '@jest/globals';
import { CREDENTIALS, startProxy, startTcp, stopAll, until } from './proxy.fixture.ts';

const sessions: ClientHttp2Session[] = [];
afterEach(async () => {
  for (const one of sessions.splice(0)) one.destroy();
  await stopAll();
});

/** Starts a proxy to a destination that answers with these bytes, and a client of the proxy. */
async function answering(bytes = '') {
  let asked = 0;
  const { port, sockets } = await startTcp((socket) => {
    asked += 1;
    socket.once('data', () => void socket.write(bytes));
  });
  const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`] });
  const client = http2.connect(`http://127.0.0.1:${proxy.port}`);
  client.on('error', () => {});
  sessions.push(client);
  const ask = (method: string) =>
    client.request(
      {
        ':method': method,
        ':scheme': 'http',
        ':authority': `127.0.0.1:${port}`,
        ':path': '/',
        'proxy-authorization': CREDENTIALS,
      },
      { endStream: true },
    );
  return { ...proxy, client, ask, sockets, asked: () => asked };
}

describe('RFC 9113 section 5.4.2: a request that is cancelled before its answer', () => {
  test.each(['GET', 'HEAD'])(
    'a cancelled %s ends at the destination, and is logged',
    async (method) => {
      const { ask, sockets, lines } = await answering();
      const stream = ask(method).on('error', () => {});
      await until(() => sockets.size > 0);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await until(() => sockets.size === 0 && lines.length > 0);
      expect(lines).toMatchObject([{ event: 'proxy.request', method }]);
      expect(lines[0]).not.toHaveProperty('reason'); // the client is the cause, not the destination
    },
  );

  test('a cancelled HEAD closes the connection to the destination', async () => {
    const { ask, client, sockets, lines } = await answering();
    ask('HEAD').on('error', () => {});
    await until(() => sockets.size > 0);
    client.destroy();
    await until(() => sockets.size === 0 && lines.length > 0);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toHaveProperty('reason');
  });
});

describe('RFC 9110 section 9.1: methods are case-sensitive', () => {
  test.each(['get', 'Get', 'head', 'trace', 'options', 'connect', 'pri'])(
    'the method %s is 501, and no destination is asked',
    async (method) => {
      const { ask, asked, lines } = await answering('HTTP/1.1 204 No Content\r\n\r\n');
      const stream = ask(method).on('error', () => {});
      const status = await new Promise((resolve) => {
        stream.on('response', (fields) => resolve(fields[':status']));
      });
      expect(status).toBe(501);
      stream.close();
      await until(() => lines.length > 0);
      expect(lines).toMatchObject([{ status: 501 }]);
      expect(asked()).toBe(0);
    },
  );
});
