import { once } from 'node:events';
import http2 from 'node:http2';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { lines } from '#shared/http/fields.ts';
import { acceptOf } from '#shared/http/web-socket.ts';
import { statuses, TestSocket } from '#shared/server/wire/test-socket.fixture.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { stalled } from '../../../proxy/proxy.fixture.ts';
import { startGateway } from '../../gateway.fixture.ts';
import {
  type Answering,
  echo,
  key,
  startSocketApplication,
  switching,
} from '../../../gateway/websocket/application.fixture.ts';

/** The example of RFC 6455 section 1.3. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

let application: Awaited<ReturnType<typeof startSocketApplication>>;
let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  application = await startSocketApplication();
  const { url } = application;
  gateway = await startGateway({
    chat: { upstream: { url: `${url}base/` } },
    impatient: { upstream: { url, timeout: 1 } },
    named: { upstream: { url }, scopes: { GET: ['named:read'], WEBSOCKET: ['named:talk'] } },
    open: { upstream: { url }, schemes: [], scopes: {} },
    finish: { upstream: { url, streams: 'finish' } },
    few: { upstream: { url, webSockets: { most: 4 } } },
    scarce: { upstream: { url, webSockets: { most: 4 } } },
    strangers: { upstream: { url, webSockets: { most: 8 } }, schemes: [], scopes: {} },
    idle: { upstream: { url, webSockets: { idle: 1 } } },
    none: { upstream: { url, webSockets: false } },
    short: { upstream: { url, webSockets: { total: 1 } } },
    basic: {
      upstream: { url },
      schemes: ['Basic'],
      scopes: {},
      cors: { origins: ['https://listed.example'] },
    },
    trusting: {
      upstream: { url },
      schemes: ['Basic'],
      scopes: {},
      cors: { origins: ['https://listed.example'], credentials: true },
    },
    document: { serves: 'identity' },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});
beforeEach(() => application.answers());

const tokenOf = (name: string) => gateway.token(`${name}:read ${name}:write`);

const tokenWith = (jti: string) => gateway.token('chat:read chat:write', { jti });

function handshake(path: string, fields: Readonly<Record<string, string>> = {}): string {
  const all = {
    Host: 'rs.example',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': KEY,
    'Sec-WebSocket-Version': '13',
    Authorization: `Bearer ${tokenOf(path.split('/')[1] ?? '')}`,
    ...fields,
  };
  const text = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${text.join('')}\r\n`;
}

function client(
  path: string,
  fields?: Readonly<Record<string, string>>,
  { listening } = gateway,
): TestSocket {
  const socket = new TestSocket(listening);
  socket.socket.write(handshake(path, fields));
  return socket;
}

async function overHttp2(path: string, fields: object = {}, { listening } = gateway) {
  const session = http2.connect(`http://127.0.0.1:${listening.port}`);
  await once(session, 'remoteSettings');
  const stream = session.request(
    {
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': path,
      ':scheme': 'https',
      ':authority': 'rs.example',
      authorization: `Bearer ${tokenOf(path.split('/')[1] ?? '')}`,
      'sec-websocket-version': '13',
      ...fields,
    },
    { endStream: false },
  );
  let received = '';
  stream
    .on('data', (piece: Buffer) => (received += piece.toString('latin1')))
    .on('error', () => {});
  const closed = once(stream, 'close');
  const [head] = await once(stream, 'response');
  return {
    head,
    stream,
    closed,
    async until(text: string) {
      while (!received.includes(text)) await once(stream, 'data');
      return received;
    },
    [Symbol.dispose]: () => session.destroy(),
  };
}

/** An answer other than 101, which continues until the application ends it. */
const endless =
  (line: string): Answering =>
  (socket) => {
    socket.resume().write(`HTTP/1.1 ${line}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n`);
  };

/** Waits for the log line of a WebSocket with this end. */
async function logged(
  end: string,
  id?: unknown,
  { lines: all } = gateway,
  since = 0,
): Promise<Record<string, unknown>> {
  for (;;) {
    const told = all.slice(since).map((line) => JSON.parse(line) as Record<string, unknown>);
    const found = told.find(
      (line) => line['end'] === end && (id === undefined || line['id'] === id),
    );
    if (found) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('RFC 6455 section 4: an accepted handshake', () => {
  test('a handshake has the fields of the client and of the gateway, and gets the answer of the application', async () => {
    const socket = client('/chat/room?a=b', {
      'Sec-WebSocket-Protocol': 'chat, superchat',
      'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits',
      'X-Forwarded-For': '203.0.113.1',
    });
    const head = await socket.until('\r\n\r\n');
    expect(statuses(head)).toEqual([101]);
    expect(head).toMatch(/x-application: yes/i);
    expect(head.match(/sec-websocket-accept: .*/gi)).toEqual([expect.stringContaining(ACCEPT)]);
    const [asked] = application.handshakes;
    const field = (name: string) => lines(asked?.rawHeaders ?? [], name);
    expect(asked).toMatchObject({ method: 'GET', url: '/base/room?a=b', httpVersion: '1.1' });
    expect(field('Sec-WebSocket-Key')).toEqual([KEY]);
    expect(field('Sec-WebSocket-Version')).toEqual(['13']);
    expect(field('Sec-WebSocket-Protocol')).toEqual(['chat, superchat']);
    expect(field('Sec-WebSocket-Extensions')).toEqual([
      'permessage-deflate; client_max_window_bits',
    ]);
    expect([field('Connection'), field('Upgrade')]).toEqual([['Upgrade'], ['websocket']]);
    expect(field('Authorization')).toEqual([]);
    expect(field('Content-Length')).toEqual([]);
    socket.socket.destroy();
  });

  test('octets flow both ways after a handshake, and if one side ends, the other side is notified', async () => {
    const socket = client('/chat/');
    await socket.until('\r\n\r\n');
    socket.socket.write('GET / HTTP/1.1\r\n\r\n is no request here');
    await socket.until('is no request here');
    socket.socket.end();
    await socket.all;
    expect(socket.reset).toBe(false);
    const told = () => gateway.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const request = told().find(({ path }) => path === '/chat/');
    expect(request).toMatchObject({ event: 'request', status: 101, verdict: 'granted' });
    const { id, sent } = await logged('done', request?.['id']);
    expect([id, Number(sent) > 0]).toEqual([request?.['id'], true]);
  });

  test('data of either side may follow a handshake at once, and is passed on after the answer', async () => {
    application.answers((socket, request) => {
      socket.write(`${switching(acceptOf(key(request)))}early from there `);
      socket.pipe(socket);
    });
    const socket = new TestSocket(gateway.listening);
    socket.socket.write(`${handshake('/chat/')}early from here`);
    expect(await socket.until('early from here')).toMatch(
      /\r\n\r\nearly from there early from here$/,
    );
    socket.socket.destroy();
  });

  test('RFC 8441 section 5: a handshake over HTTP/2 has a key of the gateway, which the client does not get', async () => {
    using socket = await overHttp2('/chat/room', { 'sec-websocket-key': KEY });
    expect(socket.head).toMatchObject({ ':status': 200, 'x-application': 'yes' });
    expect(socket.head['sec-websocket-accept']).toBeUndefined();
    socket.stream.write('over a stream');
    await socket.until('over a stream');
    const [asked] = application.handshakes;
    const [sent, another] = lines(asked?.rawHeaders ?? [], 'sec-websocket-key');
    expect(sent).toMatch(/^[A-Za-z0-9+/]{22}==$/);
    expect([sent === KEY, another]).toEqual([false, undefined]);
    expect(asked).toMatchObject({ method: 'GET', url: '/base/room', httpVersion: '1.1' });
    socket.stream.end();
    await socket.closed;
    expect(socket.stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
  });

  test('in a space without schemes the application authorizes the handshake', async () => {
    const socket = client('/open/', {
      Authorization: 'Basic abc',
      Origin: 'https://elsewhere.example',
    });
    await socket.until('101');
    expect(application.handshakes[0]?.headers).toMatchObject({
      authorization: 'Basic abc',
      origin: 'https://elsewhere.example',
    });
    socket.socket.destroy();
  });
});

describe('a connection that breaks off on one side breaks off on the other', () => {
  test("if the application breaks off a WebSocket, the client's connection is reset", async () => {
    const socket = client('/chat/');
    await socket.until('\r\n\r\n');
    for (const one of application.sockets) one.resetAndDestroy();
    await socket.all;
    expect(socket.reset).toBe(true);
  });

  test("RFC 8441 section 5: over HTTP/2 the client's stream is reset with CANCEL", async () => {
    using socket = await overHttp2('/chat/');
    for (const one of application.sockets) one.resetAndDestroy();
    await socket.closed;
    expect(socket.stream.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
  });

  test("if the client breaks off a WebSocket, the application's connection is closed", async () => {
    const socket = client('/chat/');
    await socket.until('\r\n\r\n');
    const [there] = application.sockets;
    const closed = new Promise((resolve) => there?.once('close', resolve));
    socket.socket.resetAndDestroy();
    await closed;
  });

  test('a client that half-closed before the WebSocket was open gets a regular end', async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise, resolve } = Promise.withResolvers<void>();
    application.answers((socket, request) => {
      ask();
      void promise.then(() => echo(socket, request));
    });
    const socket = client('/chat/');
    await asked;
    socket.socket.end();
    for (let turn = 0; turn < 20; turn += 1) await new Promise((later) => setImmediate(later));
    resolve();
    await socket.all;
    expect(socket.reset).toBe(false);
  });

  test.each(['idle', 'total'])('a WebSocket is closed when its time is over: %s', async (end) => {
    const socket = client(end === 'idle' ? '/idle/' : '/short/');
    await socket.until('\r\n\r\n');
    await socket.all;
    expect(await logged(end)).toMatchObject({ event: 'websocket' });
  });
});

describe('RFC 6455 section 7.1.1: if one side ends, the other ends too', () => {
  const silent: Answering = (socket, request) => {
    socket.resume().write(switching(acceptOf(key(request))));
  };

  let since = 0;
  beforeEach(() => {
    since = gateway.lines.length;
  });
  const half = () => logged('half', undefined, gateway, since);

  test.each(['HTTP/1.1', 'HTTP/2'])(
    'over %s the application must end its side in time, or the WebSocket is cut off',
    async (version) => {
      application.answers(silent);
      if (version === 'HTTP/1.1') {
        const socket = client('/idle/');
        await socket.until('\r\n\r\n');
        socket.socket.end();
        await socket.all;
      } else {
        using socket = await overHttp2('/idle/');
        socket.stream.end();
        await socket.closed;
      }
      await half();
    },
  );

  test('the client must end its side in time, or the WebSocket is cut off', async () => {
    application.answers((socket, request) => {
      silent(socket, request);
      socket.end();
    });
    using socket = await overHttp2('/idle/');
    await socket.closed;
    await half();
  });
});

describe('RFC 6455 section 7.4.1: when the server stops', () => {
  const GOING_AWAY = '\x88\x02\x03\xe9';
  const MESSAGE = '\x81\x05hello';
  /** An application that sends this text once the WebSocket is open, and nothing more. */
  const saying =
    (text: string): Answering =>
    (socket, request) => {
      socket.resume().write(`${switching(acceptOf(key(request)))}${text}`, 'latin1');
      socket.on('end', () => socket.end());
    };
  /** Longer than any test. */
  const GRACE = 3_600_000;

  test.each([
    ['a client gets the Close frame after a message', MESSAGE, MESSAGE + GOING_AWAY, false],
    ['a client gets the Close frame before the first message', '', GOING_AWAY, false],
    ['a WebSocket within a message is cut off', '\x81\x06hello', '\x81\x06hello', true],
  ])('%s', async (_, said, heard, broken) => {
    application.answers(saying(said));
    await using own = await startGateway({ chat: { upstream: { url: application.url } } });
    const token = own.token('chat:read chat:write');
    const socket = client('/chat/', { Authorization: `Bearer ${token}` }, own);
    await socket.until((all) => all.endsWith(`\r\n\r\n${said}`));
    await own.listening.close(GRACE);
    const [, content] = (await socket.all).split('\r\n\r\n');
    expect([content, socket.reset]).toEqual([heard, broken]);
    await logged('shutdown', undefined, own);
  });

  test('a WebSocket over HTTP/2 gets the Close frame, too', async () => {
    application.answers(saying(MESSAGE));
    await using own = await startGateway({ chat: { upstream: { url: application.url } } });
    const authorization = `Bearer ${own.token('chat:read chat:write')}`;
    using socket = await overHttp2('/chat/', { authorization }, own);
    await socket.until(MESSAGE);
    const closed = own.listening.close(GRACE);
    expect(await socket.until(GOING_AWAY)).toBe(MESSAGE + GOING_AWAY);
    socket.stream.end();
    await closed;
    expect(socket.stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
  });

  test('an ending server does not wait for a client that does not answer the Close frame', async () => {
    application.answers(saying(MESSAGE));
    await using own = await startGateway({ chat: { upstream: { url: application.url } } });
    const authorization = `Bearer ${own.token('chat:read chat:write')}`;
    using socket = await overHttp2('/chat/', { authorization }, own);
    await socket.until(MESSAGE);
    await own.listening.close(GRACE);
    expect(socket.stream.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
  });
});

describe('an application that answers otherwise', () => {
  test.each<[string, string | undefined, number, number?]>([
    ['403', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nX-Own: yes\r\n\r\nno', 403],
    [
      'RFC 6455 section 4.4: 426',
      'HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 7, 8\r\nContent-Length: 0\r\n\r\n',
      426,
    ],
    [
      '401 of its own',
      'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Own\r\nContent-Length: 0\r\n\r\n',
      401,
    ],
    ['302', 'HTTP/1.1 302 Found\r\nLocation: /base/there\r\nContent-Length: 0\r\n\r\n', 302],
    [
      '503 in chunks',
      'HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n',
      503,
    ],
    // A 2xx would mean an open WebSocket over HTTP/2 (RFC 8441 section 5), so it becomes a 502. Over HTTP/1.1 only 101
    // means that (RFC 9110 section 7.8).
    ['200', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 200, 502],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, 502],
    ['407', 'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n', 502],
    ['101 with another key', switching(acceptOf('AAAAAAAAAAAAAAAAAAAAAA==')), 502],
    ['101 with two', switching(ACCEPT, `Sec-WebSocket-Accept: ${ACCEPT}\r\n`), 502],
    [
      '101 without one',
      'HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      502,
    ],
    ['101 to another protocol', switching(ACCEPT).replace('websocket', 'h2c'), 502],
    ['101 to nothing', `HTTP/1.1 101 Go\r\nSec-WebSocket-Accept: ${ACCEPT}\r\n\r\n`, 502],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 502],
    ['nothing', '', 504],
    ['an end', undefined, 502],
    ['a flood of interim answers', 'HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n'.repeat(40), 502],
    [
      'fields without an end',
      `HTTP/1.1 101 Go\r\n${`X: ${'a'.repeat(1000)}\r\n`.repeat(100)}`,
      502,
    ],
  ])(
    'if the application answers a handshake with %s, the client gets an HTTP answer',
    async (_, answer, status, extended = status) => {
      const answering: Answering = (socket) => {
        if (answer === undefined) socket.end();
        else socket.write(answer, 'latin1');
      };
      application.answers(answering);
      const place = answer === '' ? '/impatient/' : '/chat/';
      const socket = client(place);
      const received = await socket.until(
        (all) => statuses(all).some((one) => one !== 103) && all.includes('\r\n\r\n'),
      );
      expect(statuses(received).filter((one) => one !== 103)).toEqual([status]);
      if (status === 302) expect(received).toMatch(/location: \/chat\/there/i);
      if (status === 426) expect(received).toMatch(/sec-websocket-version: 7, 8/i);
      socket.socket.destroy();
      using stream = await overHttp2(place);
      expect(stream.head[':status']).toBe(extended);
    },
  );

  test('an unrequested 101 is 502, and none of it reaches the client', async () => {
    application.answers();
    for (const one of application.sockets) one.destroy();
    const socket = new TestSocket(gateway.listening);
    const plain = handshake('/chat/').replace(/Upgrade: websocket\r\n/, 'Upgrade: h2c\r\n');
    socket.socket.write(plain);
    expect(statuses(await socket.until('plain GET'))).toEqual([200]);
    expect(application.handshakes).toEqual([]);
    socket.socket.destroy();
  });

  test('a handshake to an application that cannot be reached is 502', async () => {
    await using other = await startGateway({ gone: { upstream: { url: 'http://127.0.0.1:9/' } } });
    const socket = new TestSocket(other.listening);
    socket.socket.write(
      handshake('/gone/', { Authorization: `Bearer ${other.token('gone:read gone:write')}` }),
    );
    await socket.until('HTTP/1.1 502 ');
    socket.socket.destroy();
  });
});

describe('the content of another answer than 101', () => {
  const half = (socket: Socket) => {
    socket.resume().write('HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\nhalf');
  };

  test.each(['HTTP/1.1', 'HTTP/2'])(
    'over %s the connection to the application is closed if the client disconnects',
    async (version) => {
      application.answers(half);
      if (version === 'HTTP/1.1') {
        const socket = client('/idle/');
        await socket.until('half');
        socket.socket.resetAndDestroy();
      } else {
        using stream = await overHttp2('/idle/');
        await stream.until('half');
      }
      const [there] = application.sockets;
      if (there?.readableEnded === false) await once(there, 'end');
    },
  );

  test('an answer other than 101 breaks off if the application stops sending', async () => {
    application.answers(half);
    const socket = client('/impatient/');
    await socket.until('half');
    await socket.all;
    expect(socket.reset).toBe(true);
  });
});

describe('a refused handshake never reaches the application', () => {
  test.each([
    ['no credentials', '/chat/', { Authorization: '' }, 401],
    ['scopes of GET alone', '/chat/', { Authorization: 'read' }, 403],
    ['RFC 6455 section 4.2.1: no key', '/chat/', { 'Sec-WebSocket-Key': '' }, 400],
    ['a key that is too short', '/chat/', { 'Sec-WebSocket-Key': 'AAAA' }, 400],
    ['a scope of another name', '/named/', {}, 403],
  ])('a refused handshake does not reach the application: %s', async (_, path, fields, status) => {
    const { Authorization: how } = fields as { Authorization?: string };
    const given =
      how === 'read' ? { Authorization: `Bearer ${gateway.token('chat:read')}` } : fields;
    const text = handshake(path, given).replace(/^(?:Authorization|Sec-WebSocket-Key): \r\n/gm, '');
    const socket = new TestSocket(gateway.listening);
    socket.socket.write(text);
    const received = await socket.until((all) => /\r\n\r\n[^]/.test(all));
    expect(statuses(received)).toEqual([status]);
    expect(application.handshakes).toEqual([]);
    // After the refusal the connection still speaks HTTP.
    socket.socket.write(handshake('/chat/'));
    await socket.until('101');
    socket.socket.destroy();
  });

  test('the handshake of a WebSocket needs only the scopes of WEBSOCKET', async () => {
    const socket = client('/named/', { Authorization: `Bearer ${gateway.token('named:talk')}` });
    await socket.until('101');
    socket.socket.destroy();
  });

  test('in a space without an application a handshake is an ordinary request, and over HTTP/2 501', async () => {
    const socket = client('/document/');
    expect(statuses(await socket.until('"principal"'))).toEqual([200]);
    socket.socket.destroy();
    using stream = await overHttp2('/document/');
    expect(stream.head[':status']).toBe(501);
    using nowhere = await overHttp2('/health/live');
    expect(nowhere.head[':status']).toBe(501);
  });

  test('RFC 9110 section 7.8: an application without WebSockets gets the request without Upgrade', async () => {
    const socket = client('/none/');
    const received = await socket.until((all) => /plain GET /.test(all));
    expect([statuses(received), received.endsWith('plain GET ')]).toEqual([[200], true]);
    socket.socket.write(handshake('/none/'));
    await socket.until((all) => statuses(all).length === 2);
    socket.socket.destroy();
    using stream = await overHttp2('/none/');
    expect(stream.head[':status']).toBe(501);
    expect(application.handshakes).toEqual([]);
  });

  test('if no application has WebSockets, no answer shows that the server supports them', async () => {
    await using own = await startGateway({
      none: { upstream: { url: application.url, webSockets: false } },
    });
    expect(own.server.webSockets).toBe(false);
  });

  test('one account may have a quarter of the WebSockets, and each further account a quarter of the rest', async () => {
    const first = client('/few/', {
      Authorization: `Bearer ${gateway.token('few:read few:write', { client_id: 'one' })}`,
    });
    await first.until('101');
    const second = client('/few/', {
      Authorization: `Bearer ${gateway.token('few:read few:write', { client_id: 'one' })}`,
    });
    expect(statuses(await second.until('}'))).toEqual([503]);
    const third = client('/few/', {
      Authorization: `Bearer ${gateway.token('few:read few:write', { client_id: 'two' })}`,
    });
    await third.until('101');
    for (const one of [first, second, third]) one.socket.destroy();
  });

  test.each(['200 OK', '403 Forbidden'])(
    'an answer of %s to a handshake counts against the limit until it is over',
    async (line) => {
      const Authorization = `Bearer ${tokenOf('scarce')}`;
      application.answers(endless(line));
      const first = await eventually(async () => {
        const socket = client('/scarce/', { Authorization });
        await socket.until((all) => /begun|}$/.test(all));
        expect(statuses(await socket.until('\r\n\r\n'))).toEqual([Number(line.slice(0, 3))]);
        return socket;
      });
      const second = client('/scarce/', { Authorization });
      expect(statuses(await second.until('}'))).toEqual([503]);
      const [there] = application.sockets;
      there?.end('0\r\n\r\n');
      await first.until('0\r\n\r\n');
      application.answers();
      await eventually(async () => {
        const third = client('/scarce/', { Authorization });
        const received = await third.until('\r\n\r\n');
        third.socket.destroy();
        expect(statuses(received)).toEqual([101]);
      });
      for (const one of [first, second]) one.socket.destroy();
    },
  );
});

test('in a space without authentication one address may have a quarter of the unused WebSockets', async () => {
  const opened: TestSocket[] = [];
  const codes: number[] = [];
  for (const n of [1, 1, 1, 2, 2, 2, 3, 4]) {
    const one = client('/strangers/', { 'X-Forwarded-For': `192.0.2.${n}` });
    codes.push(...statuses(await one.until('\r\n\r\n')));
    opened.push(one);
  }
  for (const { socket } of opened) socket.destroy();
  expect(codes).toEqual([101, 101, 503, 101, 101, 503, 101, 101]);
});

describe('RFC 6455 section 10.2: credentials that browsers send by themselves', () => {
  const ALICE = {
    Authorization: `Basic ${Buffer.from('alice:correct horse battery').toString('base64')}`,
  };
  const BY = 'x-forwarded-proto';
  test.each([
    ['a page of another origin', 'basic', 'https://elsewhere.example', 'refused'],
    ['a page with an opaque origin', 'basic', 'null', 'refused'],
    ['a page that is listed without credentials', 'basic', 'https://listed.example', 'refused'],
    ['a page that is listed with credentials', 'trusting', 'https://listed.example', 'judged'],
    ['a page of the space', 'basic', 'https://rs.example', 'judged'],
    ['no page', 'basic', undefined, 'judged'],
  ])(
    'credentials that a browser sends by itself open no WebSocket: %s',
    async (_, name, origin, expected) => {
      const socket = client(`/${name}/`, {
        ...ALICE,
        [BY]: 'https',
        ...(origin && { Origin: origin }),
      });
      const [status] = statuses(await socket.until('}'));
      // No account alice exists, so a 401 shows that the password was checked.
      expect(status).toBe(expected === 'refused' ? 403 : 401);
      expect(application.handshakes).toEqual([]);
      socket.socket.destroy();
    },
  );
});

test('two hundred WebSockets of one account each echo their own data', async () => {
  gateway.listening.server.setMaxListeners(0); // each client listens until the server knows its WebSocket
  const sockets = Array.from({ length: 200 }, () => client('/chat/'));
  await Promise.all(
    sockets.map(async (socket, index) => {
      await socket.until('\r\n\r\n');
      socket.socket.write(`number ${index}.`);
      expect(await socket.until(`number ${index}.`)).toMatch(
        new RegExp(`\r\n\r\nnumber ${index}\\.$`),
      );
      socket.socket.end();
      await socket.all;
    }),
  );
});

test('WebSocket data is relayed only as fast as the slower side reads', async () => {
  const much = Buffer.alloc(64 * 1024 * 1024, 'x');
  application.answers((socket, request) => {
    echo(socket, request);
    socket.unpipe(socket);
    socket.write(much);
  });
  const socket = client('/chat/');
  await socket.until('\r\n\r\n');
  socket.socket.pause();
  const [there] = application.sockets;
  await stalled(() => (there ? there.bytesWritten - there.writableLength : 0));
  expect(there?.writableLength).toBeGreaterThan(0);
  socket.socket.resume();
  await socket.until((all) => all.length > much.length);
  socket.socket.destroy();
});

describe('a WebSocket ends with the token, key or person that admitted its client', () => {
  const until = () => gateway.clock.now() + 600_000;
  const revoked = (jti: string) => gateway.stores.revocations.revoke('token', jti, until());

  test('the revocation of a token ends its WebSocket at both sides, and no other', async () => {
    const [socket, other] = [
      client('/chat/', { Authorization: `Bearer ${tokenWith('ended')}` }),
      client('/chat/', { Authorization: `Bearer ${tokenWith('other')}` }),
    ];
    await Promise.all([socket, other].map((one) => one.until('\r\n\r\n')));
    await revoked('ended');
    await socket.all;
    expect(await logged('the token is not good any more')).toMatchObject({ event: 'websocket' });
    other.socket.write('still here');
    await other.until('still here');
    other.socket.destroy();
  });

  test('RFC 8441 section 5: a revocation ends a WebSocket over HTTP/2 with CANCEL', async () => {
    using socket = await overHttp2('/chat/', { authorization: `Bearer ${tokenWith('stream')}` });
    await revoked('stream');
    await socket.closed;
    expect(socket.stream.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
  });

  test("revoking all access of a person ends the person's WebSockets", async () => {
    const claims = { sub: 'alice', sub_gen: 0 };
    const token = gateway.token('chat:read chat:write', claims);
    const socket = client('/chat/', { Authorization: `Bearer ${token}` });
    await socket.until('\r\n\r\n');
    await gateway.stores.revocations.raise('person', 'alice', until());
    await socket.all;
  });

  test.each(['200 OK', '403 Forbidden'])(
    "a revocation ends the application's answer of %s to a handshake",
    async (line) => {
      application.answers(endless(line));
      const jti = `instead-${line.slice(0, 3)}`;
      const [socket, other] = [
        client('/few/', {
          Authorization: `Bearer ${gateway.token('few:read few:write', { jti })}`,
        }),
        client('/idle/'),
      ];
      await Promise.all([socket, other].map((one) => one.until('begun')));
      await revoked(jti);
      await socket.all;
      expect(socket.reset).toBe(true);
      await eventually(() => {
        const last = gateway.lines.findLast((text) =>
          text.includes('the token is not good any more'),
        );
        expect(last).toMatch(/"path":"\/few\/".*"cut":true/);
      });
      expect(other.socket.closed).toBe(false);
      other.socket.destroy();
    },
  );

  test('a revocation ends an answer of 403 to an extended CONNECT, as over HTTP/1.1', async () => {
    application.answers(endless('403 Forbidden'));
    const token = gateway.token('few:read few:write', { jti: 'refused' });
    using stream = await overHttp2('/few/', { authorization: `Bearer ${token}` });
    await stream.until('begun');
    await revoked('refused');
    await expect(stream.closed).rejects.toThrow('NGHTTP2_INTERNAL_ERROR');
  });

  test('a revocation does not end the answer to a handshake if upstream.streams is finish', async () => {
    application.answers(endless('200 OK'));
    const open = (name: string) => {
      const token = gateway.token(`${name}:read ${name}:write`, { jti: `of-${name}` });
      return client(`/${name}/`, { Authorization: `Bearer ${token}` });
    };
    const [ended, stays] = [open('few'), open('finish')];
    await Promise.all([ended, stays].map((one) => one.until('begun')));
    await revoked('of-finish');
    await revoked('of-few');
    await ended.all;
    expect(stays.socket.closed).toBe(false);
    stays.socket.destroy();
  });

  test('RFC 9068 section 4: a WebSocket ends when the token expires', async () => {
    const socket = client('/chat/');
    await socket.until('\r\n\r\n');
    gateway.clock.advance(600_000);
    await socket.all;
  });
});
