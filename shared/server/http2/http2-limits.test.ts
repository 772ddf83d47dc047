import { once } from 'node:events';
import http2 from 'node:http2';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Clock, ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { contentOf } from '../content/content.ts';
import {
  contentOn,
  errorsOf,
  frame,
  framesOf,
  headersFrame,
  OPENING,
} from '../wire/http2-frames.fixture.ts';
import { listen, type Listening, type ServerLimits } from '../listen/listen.ts';
import type { AnyHandler } from '../message/message.ts';
import { TestSocket } from '../wire/test-socket.fixture.ts';

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;

const open: Listening[] = [];
const clients: TestSocket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

/** `/waits` never answers. */
const handler: AnyHandler = (request, response) => {
  const content: Writable = response;
  if (request.url !== '/waits') content.end('hello');
};

async function start(limits: Partial<ServerLimits> = {}, clock?: Clock) {
  const both = { handler, http2: { handler }, host: '127.0.0.1', port: 0, log: silentLog };
  const listening = await listen({ ...both, limits, ...(clock && { clock }) });
  open.push(listening);
  return listening;
}

function begin(listening: Listening, ...frames: readonly Buffer[]): TestSocket {
  const client = new TestSocket(listening);
  clients.push(client);
  client.socket.write(Buffer.concat([OPENING, ...frames]));
  return client;
}

type Extra = readonly (readonly [string, string])[];

const asked = (stream: number, path: string, method = 'GET', extra: Extra = []) =>
  headersFrame(
    stream,
    [[':method', method], [':scheme', 'http'], [':authority', 'a'], [':path', path], ...extra],
    { endStream: method === 'GET' },
  );
const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const reset = (stream: number) => frame(3, 0, stream, number(8));
const ping = frame(6, 0, 0, Buffer.alloc(8));
const settings = frame(4, 0, 0, Buffer.alloc(0));
const times = (count: number, make: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));

/** Checks that a client on another connection is served. */
async function expectServed(listening: Listening): Promise<void> {
  const client = begin(listening, asked(1, '/'));
  await client.until((received) => contentOn(1, received) === 'hello');
  client.socket.destroy();
}

const FLOODS: readonly (readonly [string, ...Buffer[]])[] = [
  [
    'CVE-2019-9518: DATA without data',
    asked(1, '/waits', 'PUT'),
    times(20_000, () => frame(0, 0, 1, Buffer.alloc(0))),
  ],
  [
    'CVE-2024-27983: CONTINUATION without an end',
    frame(1, 1, 1, Buffer.from([0x82])),
    times(5000, () => frame(9, 0, 1, Buffer.from([0, 1, 97, 1, 98]))),
  ],
  [
    'CVE-2019-9516: CONTINUATION without fields',
    frame(1, 1, 1, Buffer.from([0x82])),
    times(5000, () => frame(9, 0, 1, Buffer.alloc(0))),
  ],
  [
    'CVE-2019-9513: PRIORITY',
    times(50_000, (index) => frame(2, 0, 2 * index + 1, Buffer.from([0, 0, 0, 0, 5]))),
  ],
  ['frames of a type that nobody knows', times(20_000, () => frame(0x55, 0, 0, Buffer.alloc(0)))],
  ['a SETTINGS frame with too many settings', frame(4, 0, 0, Buffer.alloc(600))],
  [
    'CVE-2025-8671, "made you reset": what makes us reset streams',
    times(2000, (index) =>
      Buffer.concat([
        asked(2 * index + 1, '/waits'),
        frame(8, 0, 2 * index + 1, number(0x7fff_ffff)),
      ]),
    ),
  ],
  [
    'malformed requests',
    times(2000, (index) => asked(2 * index + 1, '/', 'GET', [['Upper-Case', 'x']])),
  ],
  [
    'requests beyond the limit, again and again',
    times(5000, (index) => asked(2 * index + 1, '/waits')),
  ],
];

describe('RFC 9113 section 10.5: a connection that attacks the server is ended, and other connections are served', () => {
  test.each([
    ['resets of requests that are waiting', '/waits'],
    ['resets of requests that are answered', '/'],
  ])('CVE-2023-44487, rapid reset: %s', async (_, path) => {
    const listening = await start();
    const flood = times(3000, (index) =>
      Buffer.concat([asked(2 * index + 1, path), reset(2 * index + 1)]),
    );
    const received = await begin(listening, flood).all;
    expect(errorsOf(received)).toEqual([NGHTTP2_ENHANCE_YOUR_CALM]);
    await expectServed(listening);
  });

  test('a moderate number of resets is allowed, and the allowance is refilled with time', async () => {
    const clock = new ManualClock();
    const listening = await start({ resets: { burst: 3, per: 10 } }, clock);
    const client = begin(listening);
    const three = (first: number) =>
      times(3, (index) =>
        Buffer.concat([asked(first + 2 * index, '/waits'), reset(first + 2 * index)]),
      );
    client.socket.write(Buffer.concat([three(1), asked(7, '/')]));
    await client.until((received) => contentOn(7, received) === 'hello');
    clock.advance(30);
    client.socket.write(Buffer.concat([three(9), asked(15, '/')]));
    await client.until((received) => contentOn(15, received) === 'hello');
    client.socket.write(Buffer.concat([asked(17, '/waits'), reset(17)]));
    expect(errorsOf(await client.all)).toEqual([NGHTTP2_ENHANCE_YOUR_CALM]);
  });

  test.each([
    ['CVE-2019-9512: PING', ping],
    ['CVE-2019-9515: SETTINGS', settings],
  ])('a flood of frames ends the connection: %s', async (_, one) => {
    const listening = await start();
    const received = await begin(
      listening,
      times(5000, () => one),
    ).all;
    expect(errorsOf(received)).toEqual([NGHTTP2_ENHANCE_YOUR_CALM]);
    await expectServed(listening);
  });

  test('a moderate number of PING and SETTINGS is acknowledged', async () => {
    const client = begin(
      await start(),
      times(20, () => ping),
      times(20, () => settings),
    );
    const acknowledged = (type: number) => (received: string) =>
      framesOf(received).filter((one) => one.type === type).length > 20;
    await client.until((received) => acknowledged(4)(received));
    expect(framesOf(client.received).filter(({ type }) => type === 6)).toHaveLength(20);
  });

  test.each(FLOODS)('a flood ends the connection: %s', async (_, ...frames) => {
    const listening = await start();
    const received = await begin(listening, ...frames).all;
    expect(errorsOf(received)).toHaveLength(1);
    expect(contentOn(1, received)).toBe('');
    await expectServed(listening);
  });

  test('a flood of WINDOW_UPDATE delays no other connection', async () => {
    const listening = await start();
    const flood = times(50_000, () => frame(8, 0, 0, number(1)));
    const client = begin(listening, flood, asked(1, '/'));
    await expectServed(listening);
    await client.until((received) => contentOn(1, received) === 'hello');
  });
});

describe('RFC 9113 section 5.1.2: requests at a time', () => {
  test('a request over the limit is refused in a way that lets the client repeat it', async () => {
    const listening = await start({ streams: 2 });
    const three = [1, 3, 5].map((stream) => asked(stream, '/waits'));
    const client = begin(listening, ...three);
    await client.until((received) => errorsOf(received, 5).length > 0);
    expect(errorsOf(client.received, 5)).toEqual([NGHTTP2_REFUSED_STREAM]);
    client.socket.write(Buffer.concat([reset(1), asked(7, '/')]));
    await client.until((received) => contentOn(7, received) === 'hello');
  });

  test('an address has no more requests in progress, over all its connections, than it may have connections', async () => {
    const listening = await start({ connections: { address: 4, total: 100 } });
    const waiting = [1, 3].map((stream) => asked(stream, '/waits'));
    const [first, second] = [begin(listening, ...waiting), begin(listening, ...waiting)];
    // Each client has received the answers to its earlier frames.
    for (const client of [first, second]) {
      client.socket.write(ping);
      await client.until((received) => framesOf(received).some(({ type }) => type === 6));
    }
    first.socket.write(asked(5, '/'));
    await first.until((received) => errorsOf(received, 5).length > 0);
    expect(errorsOf(first.received, 5)).toEqual([NGHTTP2_REFUSED_STREAM]);
    second.socket.destroy();
    for (let stream = 7; contentOn(stream - 2, first.received) !== 'hello'; stream += 2) {
      first.socket.write(asked(stream, '/'));
      await first.until((received) =>
        framesOf(received).some((one) => one.stream === stream && one.type !== 8),
      );
    }
  });
});

describe('sizes', () => {
  const fields = (count: number): Extra =>
    Array.from({ length: count }, (_, index) => [`x${index}`, 'y']);

  test('RFC 6585 section 5: too many fields are 431', async () => {
    const listening = await start({ fields: 50 });
    const client = begin(
      listening,
      asked(1, '/', 'GET', fields(46)),
      asked(3, '/', 'GET', fields(47)),
    );
    await client.until((received) => [1, 3].every((stream) => contentOn(stream, received) !== ''));
    expect(contentOn(1, client.received)).toBe('hello');
    expect(JSON.parse(contentOn(3, client.received))).toMatchObject({ status: 431 });
  });

  const LARGE = { headerBytes: 8192, fields: 300 };

  test('RFC 6585 section 5: a header section that is too large is 431', async () => {
    const client = begin(
      await start(LARGE),
      asked(1, '/', 'GET', fields(200)),
      asked(3, '/', 'GET', fields(240)),
    );
    await client.until((received) => [1, 3].every((stream) => contentOn(stream, received) !== ''));
    expect(contentOn(1, client.received)).toBe('hello');
    expect(JSON.parse(contentOn(3, client.received))).toMatchObject({ status: 431 });
  });

  test('RFC 9113 section 10.5.1: the stream of a client that has acknowledged the limit is reset', async () => {
    const acknowledgement = frame(4, 1, 0, Buffer.alloc(0));
    const large = asked(1, '/', 'GET', fields(240));
    const client = begin(await start(LARGE), acknowledgement, large, asked(3, '/'));
    await client.until((received) => contentOn(3, received) === 'hello');
    expect(errorsOf(client.received, 1)).toEqual([NGHTTP2_ENHANCE_YOUR_CALM]);
  });

  test('RFC 7541 section 7.3: a stream whose few octets unpack to a large header section is reset', async () => {
    const listening = await start({ headerBytes: 4096 });
    // One long field for the dynamic table, and then its index again and again.
    const value = Buffer.alloc(100, 'v');
    const field = Buffer.concat([
      Buffer.from([0x40, 1]),
      Buffer.from('x'),
      Buffer.from([100]),
      value,
    ]);
    const bomb = frame(1, 5, 1, Buffer.concat([field, Buffer.alloc(5000, 0xbe)]));
    const client = begin(listening, bomb, asked(3, '/'));
    await client.until((received) => contentOn(3, received) === 'hello');
    expect(errorsOf(client.received, 1)).toEqual([NGHTTP2_ENHANCE_YOUR_CALM]);
  });
});

describe('RFC 7541 section 7.3: many requests whose few octets unpack to large header sections', () => {
  const VALUE = 100;
  const remembered = Buffer.concat([Buffer.of(0x40, 1, 0x78, VALUE), Buffer.alloc(VALUE, 'v')]);
  const request = [0x82, 0x86, 0x84, 0x01, 1, 0x61]; // GET, http, /, the authority a
  /** Returns a request with a field that enters the table of HPACK, and is then named `count` times. */
  const bomb = (stream: number, count: number) =>
    frame(1, 5, stream, Buffer.concat([Buffer.of(...request), Buffer.alloc(count, 0xbe)]));

  async function startCounting(limits: Partial<ServerLimits>) {
    const unpacked: number[] = [];
    const counting: AnyHandler = (received, response) => {
      unpacked.push(received.rawHeaders.join('').length);
      return handler(received, response);
    };
    const both = { handler: counting, http2: { handler: counting }, host: '127.0.0.1', port: 0 };
    const listening = await listen({ ...both, log: silentLog, limits });
    open.push(listening);
    const client = begin(listening, frame(1, 5, 1, Buffer.of(...request, ...remembered)));
    await client.until((received) => contentOn(1, received) === 'hello');
    return { listening, client, unpacked };
  }

  test('a connection with such requests is ended, refused or not, and only a few requests are unpacked', async () => {
    const unpackedBytes = 200_000;
    const { listening, client, unpacked } = await startCounting({ unpackedBytes });
    const count = 150;
    client.socket.write(times(2000, (index) => bomb(3 + 2 * index, count)));
    expect(errorsOf(await client.all)).toEqual([NGHTTP2_ENHANCE_YOUR_CALM]);
    const sum = unpacked.reduce((one, other) => one + other, 0);
    const [fields, octets] = [4 + count, 150]; // octets of a whole request
    const allowed = unpackedBytes + 2 * (131_072 + octets) + unpacked.length * 8192;
    expect(sum).toBeLessThan(allowed + fields * (VALUE + 1));
    expect(unpacked.length).toBeLessThan(100);
    await expectServed(listening);
  });

  test('a connection with such requests is ended, too, if node hides some of the fields', async () => {
    const { listening, client, unpacked } = await startCounting({
      fields: 50,
      invalidFrames: 20,
      idleTimeout: 50,
    });
    client.socket.write(times(21, (index) => bomb(3 + 2 * index, 200)));
    expect(errorsOf(await client.all)).toEqual([NGHTTP2_ENHANCE_YOUR_CALM]);
    expect(unpacked).toHaveLength(1);
    await expectServed(listening);
  });

  test('RFC 7541 section 4.2: an ordinary client may use the table freely', async () => {
    const { client, unpacked } = await startCounting({ unpackedBytes: 0 });
    for (let index = 0; index < 500; index += 1) {
      const stream = 3 + 2 * index;
      client.socket.write(bomb(stream, 30));
      await client.until((received) => contentOn(stream, received) === 'hello');
    }
    expect(unpacked).toHaveLength(501);
  });
});

describe('RFC 9110 section 9.3.1: content of a method that takes none', () => {
  const get = (stream: number) =>
    headersFrame(
      stream,
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':authority', 'a'],
        [':path', '/'],
      ],
      { endStream: false },
    );
  const piece = (stream: number, flags = 0) => frame(0, flags, stream, Buffer.alloc(1000));

  test('a little content is discarded, and does not reset the stream', async () => {
    const client = begin(await start({ needlessBytes: 2000 }), get(1), piece(1));
    await client.until((received) => contentOn(1, received) === 'hello');
    client.socket.write(Buffer.concat([piece(1, 1), asked(3, '/')]));
    await client.until((received) => contentOn(3, received) === 'hello');
    expect(errorsOf(client.received, 1)).toEqual([]);
  });

  test('RFC 9113 section 8.1: endless content is cut off by NO_ERROR', async () => {
    const client = begin(await start({ needlessBytes: 2000 }), get(1), piece(1));
    await client.until((received) => contentOn(1, received) === 'hello');
    client.socket.write(Buffer.concat([piece(1), piece(1), piece(1), asked(3, '/')]));
    await client.until((received) => contentOn(3, received) === 'hello');
    await client.until((received) => errorsOf(received, 1).length > 0);
    expect(errorsOf(client.received, 1)).toEqual([NGHTTP2_NO_ERROR]);
  });

  test('RFC 9110 section 15.5.14: much content is 413', async () => {
    const listening = await start({ needlessBytes: 1000 });
    for (const [length, expected] of [
      ['1000', 'hello'],
      ['1001', '"status":413'],
    ] as const) {
      const client = begin(listening, asked(1, '/', 'DELETE', [['content-length', length]]));
      await client.until((received) => contentOn(1, received).includes(expected));
    }
  });
});

test('content that the handler does not read to its end is discarded up to the limit', async () => {
  const partly: AnyHandler = async (request, response) => {
    for await (const _ of contentOf(request)) break;
    const content: Writable = response;
    content.end('hello');
  };
  const both = { handler: partly, http2: { handler: partly }, host: '127.0.0.1', port: 0 };
  const listening = await listen({ ...both, log: silentLog, limits: { leftoverBytes: 20_000 } });
  open.push(listening);
  const piece = (stream: number, last = 0) => frame(0, last, stream, Buffer.alloc(10_000));
  const client = begin(listening, asked(1, '/', 'PUT'), piece(1));
  await client.until((received) => contentOn(1, received) === 'hello');
  client.socket.write(Buffer.concat([piece(1), piece(1, 1), asked(3, '/', 'PUT'), piece(3)]));
  await client.until((received) => contentOn(3, received) === 'hello');
  expect(errorsOf(client.received, 1)).toEqual([]);
  client.socket.write(Buffer.concat([piece(3), piece(3), piece(3)]));
  await client.until((received) => errorsOf(received, 3).length > 0);
  expect(errorsOf(client.received, 3)).toEqual([NGHTTP2_NO_ERROR]);
});

describe('answers that a client does not read', () => {
  const LONG = 1_000_000;
  const WINDOW = 65_535;

  /** Starts a server with long answers; returns the streams that have ended, too. */
  async function startLong(limits: Partial<ServerLimits> = {}) {
    const over = new Set<number | undefined>();
    const long: AnyHandler = (request, response) => {
      if (request instanceof http2.Http2ServerRequest) {
        const { stream } = request;
        const { id } = stream;
        stream.once('close', () => over.add(id));
      }
      const content: Writable = response;
      if (request.url === '/whole') content.end(Buffer.alloc(LONG));
      else content.write(Buffer.alloc(LONG));
    };
    const both = { handler: long, http2: { handler: long }, host: '127.0.0.1', port: 0 };
    const listening = await listen({ ...both, log: silentLog, limits });
    open.push(listening);
    return { listening, over };
  }

  test('RFC 9113 section 6.9.2: windows of zero with pings do not keep the stream open', async () => {
    const { listening, over } = await startLong({
      idleTimeout: 50,
      pace: { bytes: 1000, milliseconds: 50 },
      controls: { burst: 1e9, per: 1 },
    });
    const client = begin(listening, frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])));
    const ids = Array.from({ length: 50 }, (_, index) => 2 * index + 1);
    for (const id of ids) {
      client.socket.write(Buffer.concat([asked(id, '/'), ping]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    while (ids.some((id) => errorsOf(client.received, id).length === 0)) {
      client.socket.write(ping);
      await delay(5);
    }
    const errors = new Set(ids.flatMap((id) => errorsOf(client.received, id)));
    expect(errors).toEqual(new Set([http2.constants.NGHTTP2_CANCEL]));
    expect(over).toEqual(new Set(ids));
  });

  test.each([
    ['/', 0],
    ['/', 8],
    ['/whole', 0],
    ['/whole', 8],
  ])('RFC 9113 section 5.4.2: a stream (%s) that is reset (%d) is removed', async (path, code) => {
    const { listening, over } = await startLong();
    const client = begin(listening, asked(1, path));
    await client.until((received) => contentOn(1, received).length === WINDOW);
    client.socket.write(frame(3, 0, 1, number(code)));
    while (!over.has(1)) await delay(5);
  });

  test('streams that were reset do not count against the limit (RFC 9113 section 5.1)', async () => {
    const { listening } = await startLong();
    const client = begin(listening, frame(8, 0, 0, number(0x7000_0000)));
    const ids = Array.from({ length: 60 }, (_, index) => 2 * index + 1);
    for (const id of ids) {
      client.socket.write(asked(id, '/'));
      await client.until((received) => contentOn(id, received).length === WINDOW);
      client.socket.write(reset(id));
    }
    expect(ids.flatMap((id) => errorsOf(client.received, id))).toEqual([]);
  });
});

describe('content that is slow', () => {
  const slow = { pace: { bytes: 100, milliseconds: 20 } };

  test('RFC 9110 section 15.5.9: slow content gets 408, while other requests continue', async () => {
    const listening = await start(slow);
    const client = begin(listening, asked(1, '/waits', 'PUT'));
    await client.until((received) => contentOn(1, received) !== '');
    expect(JSON.parse(contentOn(1, client.received))).toMatchObject({ status: 408 });
    client.socket.write(asked(3, '/'));
    await client.until((received) => contentOn(3, received) === 'hello');
  });

  test('content that is incomplete after the time limit gets 408, however fast it arrives', async () => {
    const listening = await start({ requestTimeout: 50, headersTimeout: 50 });
    const client = begin(listening, asked(1, '/waits', 'PUT'));
    while (contentOn(1, client.received) === '') {
      client.socket.write(frame(0, 0, 1, Buffer.alloc(1)));
      await delay(5);
    }
    expect(JSON.parse(contentOn(1, client.received))).toMatchObject({ status: 408 });
  });
});

test('a client that meets the limits gets them in SETTINGS (RFC 9113 section 6.5.2)', async () => {
  const { port } = await start({ streams: 7, headerBytes: 9000 });
  const client = http2.connect(`http://127.0.0.1:${port}`);
  const [received] = (await once(client, 'remoteSettings')) as [http2.Settings];
  client.destroy();
  expect(received).toMatchObject({
    maxConcurrentStreams: 7,
    maxHeaderListSize: 9000,
    enableConnectProtocol: false,
  });
});
