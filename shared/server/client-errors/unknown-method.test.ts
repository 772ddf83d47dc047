import { once } from 'node:events';
import { METHODS as PARSED } from 'node:http';
import { connect as connectTls } from 'node:tls';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemClock } from '#shared/base/clock.ts';
import { jsonLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { METHODS } from '#shared/http/methods.ts';
import { contentOf } from '../content/content.ts';
import { listen, type Listening, type ServerLimits } from '../listen/listen.ts';
import type { AnyHandler } from '../message/message.ts';
import { selfSigned } from '../listen/self-signed.ts';
import { statuses, TestSocket } from '../wire/test-socket.fixture.ts';
import { tellsMethod, unknownMethod, withStandIn } from './unknown-method.ts';
import { open, problemOf } from '../wire/wire.fixture.ts';

const certificate = selfSigned(['localhost'], systemClock, systemRandom);

/** Registered methods (RFC 9110 section 18.2), methods of caches, and arbitrary tokens. */
const UNKNOWN = [
  'BAN',
  'BASELINE-CONTROL',
  'CHECKIN',
  'LABEL',
  'MKREDIRECTREF',
  'MKWORKSPACE',
  'ORDERPATCH',
  'UNCHECKOUT',
  'UPDATE',
  'UPDATEREDIRECTREF',
  'VERSION-CONTROL',
  'FOO',
  'get',
  'GETX',
  'G',
  'P',
  'PRI',
  'constructor',
  "!#$%&'*+-.^_`|~0",
];

/** The requests that reached the handler: method, target and content. */
let asked: string[] = [];
let lines: Record<string, unknown>[] = [];
beforeEach(() => {
  asked = [];
  lines = [];
});

const echoing: AnyHandler = async (request, response) => {
  let content = '';
  for await (const piece of contentOf(request)) content += String(piece);
  asked.push(`${request.method} ${request.url} ${content}`);
  response.statusCode = 200;
  (response as NodeJS.WritableStream).end('done');
};

const PORTS = {
  'HTTP/1.1 alone': {},
  'beside HTTP/2': { http2: { handler: echoing } },
  'over TLS': { http2: { handler: echoing, certificate } },
} as const;
type Port = keyof typeof PORTS;
const NAMES = Object.keys(PORTS) as readonly Port[];

async function start(
  name: Port,
  limits: Partial<ServerLimits> = {},
  handler = echoing,
): Promise<Listening> {
  const log = jsonLog((line) => void lines.push(JSON.parse(line)), systemClock, 'test');
  const at = { host: '127.0.0.1', port: 0, handler, log, limits };
  const listening = await listen({ ...at, ...PORTS[name] });
  open.push(listening);
  return listening;
}

/** Returns the answer to these pieces, each of which the server gets in a read of its own. */
async function answerTo(name: Port, to: Listening, pieces: readonly string[]): Promise<string> {
  if (name === 'over TLS') return answerOverTls(to, pieces, ['http/1.1']);
  const client = new TestSocket(to);
  for (const piece of pieces) await client.send(piece);
  return client.all;
}

async function answerOverTls(
  { port }: Listening,
  pieces: readonly string[],
  ALPNProtocols: string[],
): Promise<string> {
  const socket = connectTls({ port, rejectUnauthorized: false, ALPNProtocols });
  let received = '';
  socket.on('data', (piece: Buffer) => {
    received += piece.toString('latin1');
  });
  socket.on('error', () => {});
  // `once` of `node:events` rejects on a reset, which is an end of the connection, too.
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  await once(socket, 'secureConnect');
  for (const piece of pieces) {
    socket.write(piece, 'latin1'); // a TLS record of its own
    await turn();
  }
  await closed;
  return received;
}

const NEXT = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const head = (line: string, ...fields: readonly string[]) =>
  `${[line, 'Host: a', ...fields].join('\r\n')}\r\n\r\n`;

describe.each(NAMES)('RFC 9110 section 9.1: any token is a method, %s', (name) => {
  test.each(UNKNOWN)(
    '%s reaches the handler unchanged, and is the last request of its connection',
    async (method) => {
      const listening = await start(name);
      for (const version of ['1.1', '1.0']) {
        asked = [];
        const received = await answerTo(name, listening, [
          head(`${method} /x HTTP/${version}`) + NEXT,
        ]);
        expect([asked, statuses(received)]).toEqual([[`${method} /x `], [200]]);
        expect(received).toMatch(/^connection: close$/im);
      }
    },
  );

  test.each([...PARSED].filter((method) => method !== 'CONNECT'))(
    'the known method %s does not end the connection',
    async (method) => {
      const last = head('GET /next HTTP/1.1', 'Connection: close');
      await answerTo(name, await start(name), [head(`${method} /x HTTP/1.1`) + last]);
      expect(asked).toEqual([`${method} /x `, 'GET /next ']);
    },
  );

  test('the content of a request with an unknown method has the announced length, even if it looks like a request', async () => {
    const bytes = head('BAN /x HTTP/1.1', `Content-Length: ${NEXT.length}`) + NEXT + NEXT;
    expect(statuses(await answerTo(name, await start(name), [bytes]))).toEqual([200]);
    expect(asked).toEqual([`BAN /x ${NEXT}`]);
  });

  test.each([
    ['without content', head('BAN /x HTTP/1.1'), 'BAN /x '],
    ['behind empty lines', `\r\n\r\n${head('BAN /x HTTP/1.1')}`, 'BAN /x '],
    ['of HTTP/1.0', head('get /x HTTP/1.0'), 'get /x '],
    ['that begins like the preface', head('PRIM * HTTP/1.1'), 'PRIM * '],
    ['that begins with its method', head('PRI * HTTP/1.1'), 'PRI * '],
    ['with content', `${head('P /x HTTP/1.1', 'Content-Length: 5')}hello`, 'P /x hello'],
  ])(
    'RFC 9112 section 9.6: one %s stays one request, wherever its octets are split',
    async (_, request, expected) => {
      const listening = await start(name);
      const bytes = request + NEXT;
      for (let cut = 1; cut < bytes.length; cut += 1) {
        asked = [];
        const received = await answerTo(name, listening, [bytes.slice(0, cut), bytes.slice(cut)]);
        expect([cut, asked, statuses(received)]).toEqual([cut, [expected], [200]]);
      }
    },
  );

  test('one request stays one request if its octets are split at any two places', async () => {
    const listening = await start(name);
    const bytes = `\r\nBAN / HTTP/1.1\r\nHost:a\r\n\r\nGET / HTTP/1.1\r\nHost:a\r\n\r\n`;
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), {
      minLength: 2,
      maxLength: 2,
    });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const [first = 0, second = 0] = places.toSorted((a, b) => a - b);
        asked = [];
        const pieces = [bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)];
        expect(statuses(await answerTo(name, listening, pieces))).toEqual([200]);
        expect(asked).toEqual(['BAN / ']);
      }),
      { numRuns: 150 },
    );
  });

  test('one request stays one request if it arrives byte by byte', async () => {
    await answerTo(name, await start(name), Array.from(head('BAN /x HTTP/1.1') + NEXT));
    expect(asked).toEqual(['BAN /x ']);
  });

  test.each([
    [
      'RFC 9110 section 15.5.12: content in pieces',
      411,
      head('BAN /x HTTP/1.1', 'Transfer-Encoding: chunked'),
    ],
    [
      'RFC 9112 section 6.1: content of two lengths',
      400,
      head('BAN /x HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2'),
    ],
    ['RFC 9112 section 3.2: two Host fields', 400, head('BAN /x HTTP/1.1', 'Host: b')],
    ['RFC 9112 section 3.2: no Host field', 400, 'BAN /x HTTP/1.1\r\n\r\n'],
    [
      'RFC 9110 section 10.1.1: an expectation that nobody knows',
      417,
      head('BAN /x HTTP/1.1', 'Expect: tea'),
    ],
    ['RFC 9110 section 15.5.15: a long target', 414, head(`BAN /${'x'.repeat(9000)} HTTP/1.1`)],
    [
      'RFC 6585 section 5: a large header section',
      431,
      head('BAN /x HTTP/1.1', `X: ${'x'.repeat(17_000)}`),
    ],
    [
      'RFC 6585 section 5: many fields',
      431,
      head('BAN /x HTTP/1.1', ...Array<string>(201).fill('X: x')),
    ],
    ['RFC 9110 section 15.6.6: another version', 505, head('BAN /x HTTP/2.0')],
    ['HTTP/0.9', 505, 'BAN /x\r\n\r\n'],
    ['an invalid version', 400, 'BAN / HTTP/x\r\n\r\n'],
    ['no target', 400, 'BAN HTTP/1.1\r\n\r\n'],
    ['two spaces', 400, head('BAN  /x HTTP/1.1')],
    ['a tab', 400, head('BAN\t/x HTTP/1.1')],
    ['a tab behind the space', 400, head('BAN \t/x HTTP/1.1')],
    ['a control character', 400, head('BA\0N /x HTTP/1.1')],
    ['a letter that is no token', 400, head('BÄN /x HTTP/1.1')],
    ['a bare LF', 400, 'BAN /x HTTP/1.1\nHost: a\r\n\r\n'],
    ['a bare CR', 400, 'BAN /x HTTP/1.1\rHost: a\r\n\r\n'],
    ['a bare LF before it', 501, `\n${head('BAN /x HTTP/1.1')}`],
    ['more empty lines than there may be', 501, `${'\r\n'.repeat(40)}${head('BAN /x HTTP/1.1')}`],
    ['RFC 9112 section 3: a method that is too long', 501, head(`${'A'.repeat(100)} /x HTTP/1.1`)],
    ['a method of 16 KiB that never ends', 414, 'A'.repeat(16_400)],
    ['a field that is folded', 400, head('BAN /x HTTP/1.1', 'X: a', ' b')],
    ['a space before the colon', 400, head('BAN /x HTTP/1.1', 'X : a')],
  ])('%s gets %d, and the handler is not called', async (_, status, bytes) => {
    const listening = await start(name);
    expect(problemOf(await answerTo(name, listening, [bytes])).status).toBe(status);
    expect(asked).toEqual([]);
    expect(statuses(await answerTo(name, listening, [bytes + NEXT]))).toHaveLength(1);
    expect(asked).toEqual([]);
    expect(lines.filter(({ event }) => event === 'refused').length).toBeGreaterThan(0);
  });

  test.each([
    ['nothing', ''],
    ['half a method', 'BA'],
    ['a method', 'BAN '],
    ['an empty line', '\r\n'],
    ['half a request', 'BAN /x HTTP/1.1\r\nHo'],
    ['half its content', `${head('BAN /x HTTP/1.1', 'Content-Length: 5')}hel`],
  ])('RFC 9110 section 15.5.9: a client that sends only %s gets 408', async (_, bytes) => {
    const limits = { headersTimeout: 50, requestTimeout: 60, checkInterval: 10 };
    const listening = await start(name, limits);
    expect(problemOf(await answerTo(name, listening, [bytes])).status).toBe(408);
    expect(asked).toEqual([]);
  });

  test('RFC 9110 section 10.1.1: a request with an unknown method may wait for 100 before it sends its content', async () => {
    const listening = await start(name);
    const put = head('BAN /x HTTP/1.1', 'Content-Length: 5', 'Expect: 100-continue');
    expect(statuses(await answerTo(name, listening, [put, 'hello']))).toEqual([100, 200]);
    expect(asked).toEqual(['BAN /x hello']);
  });
});

test('RFC 9112 section 9.6: octets after a request with an unknown method are not read before its answer', async () => {
  const answer = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const listening = await start('HTTP/1.1 alone', {}, async (request, response) => {
    asked.push(request.method ?? '');
    begun.resolve();
    await answer.promise;
    (response as NodeJS.WritableStream).end('done');
  });
  const accepted = once(listening.server, 'connection');
  const client = new TestSocket(listening);
  client.socket.write(head('BAN / HTTP/1.1') + NEXT.repeat(500_000));
  const [peer] = await accepted;
  await begun.promise;
  for (let n = 0; n < 100; n += 1) await turn();
  expect(peer.bytesRead).toBeLessThan(1_000_000);
  answer.resolve();
  expect(statuses(await client.all)).toEqual([200]);
  expect(asked).toEqual(['BAN']);
});

test('over TLS a client need not offer a protocol by ALPN', async () => {
  const received = await answerOverTls(await start('over TLS'), [head('BAN /x HTTP/1.1')], []);
  expect([asked, statuses(received)]).toEqual([['BAN /x '], [200]]);
});

test('a connection that ends in the middle of a method gets 400', async () => {
  const client = new TestSocket(await start('HTTP/1.1 alone'));
  client.socket.end('BA');
  expect(problemOf(await client.all).status).toBe(400);
});

test('a client that half-closes its connection after its request gets the answer', async () => {
  const client = new TestSocket(await start('HTTP/1.1 alone'));
  client.socket.end(head('BAN /x HTTP/1.1'));
  expect(statuses(await client.all)).toEqual([200]);
});

test('closing the server ends connections with half a method, and answers complete requests', async () => {
  const listening = await start('HTTP/1.1 alone');
  const [half, whole] = [new TestSocket(listening), new TestSocket(listening)];
  await Promise.all([half.send('BA'), whole.send('BA')]);
  const closed = listening.close(60_000);
  await whole.send(head('N /x HTTP/1.1'));
  expect(statuses(await whole.all)).toEqual([200]);
  expect(await half.all).toBe('');
  await closed;
});

describe('the part of a request that decides whether its method is unknown', () => {
  test('the substitute method can be parsed, and no handler supports it', () => {
    const readable = withStandIn(Buffer.from('\r\nBAN /x HTTP/1.1\r\n')).toString();
    const [, method = '', rest] = /^([A-Z]+)( .*\r\n)$/s.exec(readable) ?? [];
    expect(rest).toBe(' /x HTTP/1.1\r\n');
    expect(PARSED).toContain(method);
    expect([...METHODS.keys(), 'CONNECT', 'PRI', 'SOURCE']).not.toContain(method);
  });

  test('the examined part is long enough: further octets do not change the decision', () => {
    const piece = fc.constantFrom(
      '\r\n',
      '\r',
      '\n',
      ' ',
      '\t',
      '/',
      'BAN',
      'GET',
      'x',
      'ä',
      'A'.repeat(30),
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (pieces) => {
        const bytes = Buffer.from(pieces.join(''), 'latin1');
        const whole = Buffer.concat([bytes, Buffer.from('/ HTTP/1.1\r\n')]);
        if (tellsMethod(bytes)) {
          expect(unknownMethod(bytes)).toBe(unknownMethod(whole));
        } else {
          expect(unknownMethod(bytes)).toBeUndefined();
        }
      }),
    );
  });
});
