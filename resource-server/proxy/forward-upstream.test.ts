import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { exchange, statuses } from '#shared/server/wire/test-socket.fixture.ts';
import { forward } from './forward.ts';
import { ALICE, startOrigin, startProxy, startTcp, stopAll, until } from './proxy.fixture.ts';

afterEach(stopAll);

const HINT = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Calls `serve` once a request has begun, and ends nothing by itself. */
async function answering(serve: (socket: Socket) => void) {
  const { port, sockets } = await startTcp(
    (socket) => void socket.once('data', () => serve(socket)),
  );
  const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`] });
  const ask = (version = '1.1') =>
    exchange(
      proxy.listening,
      `GET http://127.0.0.1:${port}/ HTTP/${version}\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`,
    );
  return { ...proxy, ask, sockets };
}

describe('RFC 9110 section 15.2: interim answers', () => {
  test('interim answers up to the limit precede the answer', async () => {
    const { ask } = await answering((socket) => void socket.write(HINT.repeat(16) + OK));
    expect(statuses(await ask())).toEqual([...Array<number>(16).fill(103), 200]);
  });

  test.each([
    ['of hints', HINT, '1.1', 16],
    ['of hints, to HTTP/1.0, which gets none', HINT, '1.0', 0],
    ['of 100, which nobody passes on', 'HTTP/1.1 100 Continue\r\n\r\n', '1.1', 0],
  ])(
    'a flood of interim answers (%s) is 502, even with an answer after it',
    async (_, interim, version, passed) => {
      const { ask, sockets, lines } = await answering((socket) => {
        socket.write(interim.repeat(17) + OK);
      });
      expect(statuses(await ask(version))).toEqual([...Array<number>(passed).fill(103), 502]);
      await until(() => sockets.size === 0);
      expect(lines).toMatchObject([{ status: 502, reason: expect.stringContaining('interim') }]);
    },
  );

  test('an endless flood of interim answers is 502', async () => {
    const { ask, sockets } = await answering((socket) => {
      const write = () => {
        if (!socket.destroyed) socket.write(HINT, () => setImmediate(write));
      };
      write();
    });
    expect(statuses(await ask())).toEqual([...Array<number>(16).fill(103), 502]);
    await until(() => sockets.size === 0);
  });
});

describe('RFC 9112 section 6.1: transfer codings of an answer', () => {
  const CHUNKS = '4\r\ncode\r\n0\r\n\r\n';

  test.each(['chunked', 'Chunked'])('the transfer coding %s is removed', async (coding) => {
    const { ask } = await answering((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n${CHUNKS}`);
    });
    const received = await ask();
    expect(statuses(received)).toEqual([200]);
    expect(received).toMatch(/\r\n\r\n4\r\ncode\r\n0\r\n\r\n$/);
  });

  test.each([
    'gzip, chunked',
    'gzip',
    'gzip\r\nTransfer-Encoding: chunked',
    'chunked, chunked',
    'chunked\r\nTransfer-Encoding: chunked',
    'chunked,',
    'identity',
    '"',
  ])(
    'an answer with the transfer coding %j is 502, and none of its content is forwarded',
    async (coding) => {
      const { ask, sockets } = await answering((socket) => {
        socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n${CHUNKS}`);
      });
      const received = await ask();
      expect(statuses(received)).toEqual([502]);
      expect(received).not.toContain('code\r\n');
      await until(() => sockets.size === 0);
    },
  );
});

describe('RFC 9110 section 15.6.3: a malformed Connection from the destination', () => {
  test.each([
    ['an answer', `HTTP/1.1 200 OK\r\nConnection: "\r\nContent-Length: 2\r\n\r\nok`],
    ['an interim answer', `HTTP/1.1 103 Early Hints\r\nConnection: "\r\n\r\n`],
    ['an interim answer before one', `HTTP/1.1 103 Early Hints\r\nConnection: "\r\n\r\n${OK}`],
  ])('a malformed Connection in %s is 502, not an error of the client', async (_, bytes) => {
    const { ask, sockets, lines } = await answering((socket) => void socket.write(bytes));
    expect(statuses(await ask())).toEqual([502]);
    await until(() => sockets.size === 0);
    expect(lines).toMatchObject([{ status: 502, reason: expect.stringContaining('malformed') }]);
  });
});

test('RFC 9110 section 9.3.6: an answer that node:http treats as a tunnel does not hang', async () => {
  const { port } = await startTcp((socket) => {
    socket.once('data', () => void socket.write('HTTP/1.1 200 OK\r\n\r\n'));
  });
  const origin = await startOrigin((request, response) => {
    request.method = 'connect';
    const socket = connect(port, '127.0.0.1');
    const target = { host: 'a', port, authority: 'a', path: '/' };
    const about = { fields: {}, pseudonym: 'b', idle: 20 };
    forward({ request, response, target, socket, ...about }).catch((error: unknown) => {
      response.end(String(error));
    });
  });
  const answer = await fetch(`http://127.0.0.1:${origin}/`);
  expect(await answer.text()).toMatch(
    /^HttpError: The destination ended the connection without an answer/,
  );
});
