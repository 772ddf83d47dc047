import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import tls from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { type Handler, listen } from '../listen/listen.ts';
import { selfSigned } from '../listen/self-signed.ts';
import type { AnyHandler } from '../message/message.ts';
import { exchange, statuses, TestSocket } from '../wire/test-socket.fixture.ts';
import type { TunnelHandler } from '../tunnels/tunnel.ts';
import { CLOSING_GET, echo, GET, open, problemOf, start } from '../wire/wire.fixture.ts';

/** The channel on which node:http reports that it has created a request. */
const MADE = 'http.server.request.start';
/** Three reads: the one being parsed, the next, and one that had begun. */
const MOST_OCTETS = 3 * 65_536;

const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx';
const UPGRADE = GET.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');

describe('RFC 9112 section 9.3.2: many requests of a client that does not read the answers', () => {
  /** Returns the most unanswered requests, and the most octets, at one time. */
  async function most(bytes: string, over: 'tcp' | 'tls') {
    const waiting: (() => void)[] = [];
    const handler: AnyHandler = (_request, response) => {
      const content: Writable = response;
      waiting.push(() => void content.end());
    };
    const certificate =
      over === 'tls' ? { certificate: selfSigned(['127.0.0.1'], systemClock, systemRandom) } : {};
    const both = { handler, http2: { handler, ...certificate }, host: '127.0.0.1', port: 0 };
    const listening = await listen({ ...both, log: silentLog });
    open.push(listening);
    const found = { requests: 0, octets: 0, unread: 0 };
    let unanswered = 0;
    const made = (message: unknown) => {
      const { response } = message as { readonly response: ServerResponse };
      unanswered += 1;
      found.requests = Math.max(found.requests, unanswered);
      response.once('close', () => (unanswered -= 1));
    };
    subscribe(MADE, made);
    const accepted = once(listening.server, 'connection') as Promise<[Socket]>;
    const { port } = listening;
    const client =
      over === 'tcp' ? connect(port) : tls.connect({ port, rejectUnauthorized: false });
    let received = '';
    client.on('data', (piece: Buffer) => (received += piece.toString('latin1')));
    client.write(bytes + CLOSING_GET);
    const [peer] = await accepted;
    while (!client.closed) {
      await turn();
      found.octets = Math.max(found.octets, peer.readableLength);
      for (const answer of waiting.splice(0)) answer();
    }
    unsubscribe(MADE, made);
    return { ...found, answers: statuses(received).length };
  }

  test.each([
    ['GET', GET, 10, 'tcp'],
    ['GET', GET, 10, 'tls'],
    ['POST with content', POST, 1, 'tcp'],
    ['POST with content', POST, 1, 'tls'],
    ['requests with Upgrade', UPGRADE, 1, 'tcp'],
  ] as const)(
    'many unread requests stay unparsed except for a few: %s',
    async (_, one, atOnce, over) => {
      const count = Math.ceil(250_000 / one.length / (atOnce === 1 ? 3 : 1));
      const { requests, octets, answers } = await most(one.repeat(count), over);
      expect(requests).toBeLessThanOrEqual(atOnce);
      expect(octets).toBeLessThanOrEqual(MOST_OCTETS);
      expect(answers).toBe(count + 1);
    },
  );
});

describe('a request that was held back', () => {
  /** Answers with all data of the request. */
  const telling: Handler = async (request, response) => {
    const content = await echo(request);
    const { method, url, httpVersion, rawHeaders, rawTrailers } = request;
    response.end(JSON.stringify([method, url, httpVersion, rawHeaders, rawTrailers, content]));
  };
  const dateless = (received: string) => received.replaceAll(/^Date: .*$/gm, 'Date');
  /** An unsafe request: no other request of the connection runs beside it. */
  const FIRST = 'PUT /first HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nfirst';
  const REQUESTS = [
    FIRST,
    GET,
    'POST /in-chunks?a=%20b HTTP/1.1\r\nhOST: a\r\nTrailer: t\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nHELLO\r\n0\r\nt: u\r\n\r\n',
    'HEAD / HTTP/1.1\r\nHost:a\r\nX:\r\nX:  \t b  c \t\r\nX: \xe4\xff\r\n\r\n',
    'QUERY / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc',
    'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
    UPGRADE,
    'DELETE http://a/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
    'PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok',
    'PATCH / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1',
  ];

  test('a held-back request is handled unchanged, wherever its octets are split', async () => {
    const listening = await start(telling);
    let alone = '';
    for (const one of REQUESTS) {
      const client = new TestSocket(listening);
      client.socket.end(Buffer.from(one, 'latin1'));
      alone += await client.all;
    }
    const bytes = Buffer.from(REQUESTS.join(''), 'latin1');
    for (let cut = 0; cut < bytes.length; cut += 9) {
      const client = new TestSocket(listening);
      if (cut > 0) await client.send(bytes.subarray(0, cut));
      client.socket.write(bytes.subarray(cut));
      expect([cut, dateless(await client.all)]).toEqual([cut, dateless(alone)]);
    }
  });

  test('a held-back request keeps its fields, octet for octet', async () => {
    const listening = await start(telling);
    const name = fc.stringMatching(/^x[!#$%&'*+.^_`|~0-9A-Za-z-]{0,20}$/);
    const value = fc.stringMatching(/^[\t -~\x80-\xff]{0,40}$/);
    const property = fc.asyncProperty(fc.array(fc.tuple(name, value)), async (fields) => {
      const lines = fields.map(([one, of]) => `${one}:${of}\r\n`).join('');
      const asked = `GET / HTTP/1.1\r\nHost: a\r\n${lines}Connection: close\r\n\r\n`;
      const alone = await exchange(listening, asked);
      const both = await exchange(listening, FIRST + asked);
      expect(dateless(both.slice(both.lastIndexOf('HTTP/1.1 200')))).toBe(dateless(alone));
    });
    await fc.assert(property, { numRuns: 100 });
  });

  const filled = (method: string, length: number) =>
    `${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${'y'.repeat(length)}`;

  test.each([
    ['both', filled('POST', 70_000) + filled('POST', 70_000)],
    ['the one before', filled('PUT', 70_000) + filled('POST', 30_000)],
    ['this one', FIRST + filled('POST', 140_000)],
    ['many', filled('POST', 70_000).repeat(10)],
    ['those around Upgrade', filled('POST', 70_000) + UPGRADE + filled('POST', 70_000)],
  ])(
    'a held-back request is read completely, even if the content is longer than one read: %s',
    async (_, bytes) => {
      const received = await exchange(await start(telling), bytes + CLOSING_GET);
      const asked = (bytes + CLOSING_GET).match(/ HTTP\/1\.1\r/g);
      expect(statuses(received)).toEqual(asked?.map(() => 200));
      expect(received.match(/y+/g)?.join('')).toBe(bytes.match(/y+/g)?.join(''));
    },
  );

  test('RFC 9110 section 9.3.6: a tunnel after long content carries all octets', async () => {
    const tunnel: TunnelHandler = async ({ open: begin }) => {
      const side = begin({});
      side.pipe(side);
    };
    const host = { host: '127.0.0.1', port: 0 };
    const listening = await listen({ ...host, handler: telling, tunnel, log: silentLog });
    open.push(listening);
    const client = new TestSocket(listening);
    const octets = 'z'.repeat(200_000);
    const connecting = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n';
    client.socket.write(filled('POST', 70_000) + connecting + octets);
    let received = '';
    client.socket.on('data', (piece: Buffer) => {
      received += piece.toString('latin1');
      if (received.endsWith(octets)) client.socket.end();
    });
    expect((await client.all).endsWith(`\r\n\r\n${octets}`)).toBe(true);
  });

  test.each([
    ['one', GET],
    ['one that is carried out alone', FIRST],
    ['one with Upgrade', UPGRADE],
    ['two', GET + GET],
  ])(
    'RFC 9112 section 9.6: requests behind a slow one on a half-closed connection are answered: %s',
    async (_, bytes) => {
      const listening = await start(async (request, response) => {
        // The wait gives the connection time to end.
        if (request.method === 'PUT') for (let turns = 0; turns < 200; turns += 1) await turn();
        await telling(request, response);
      });
      const client = new TestSocket(listening);
      client.socket.end(FIRST + bytes);
      const asked = (FIRST + bytes).match(/ HTTP\/1\.1\r/g);
      expect(statuses(await client.all)).toEqual(asked?.map(() => 200));
      expect(client.reset).toBe(false);
    },
  );

  test('many requests on a half-closed connection leave one timer and one listener', async () => {
    const counts: number[] = [];
    const listening = await start(({ socket }, response) => {
      counts.push(socket.listenerCount('close'));
      response.end();
    });
    const client = new TestSocket(listening);
    client.socket.end(FIRST.repeat(40));
    expect(statuses(await client.all)).toEqual(Array(40).fill(200));
    expect(Math.max(...counts)).toBeLessThanOrEqual((counts[0] ?? 0) + 2);
  });

  test.each([
    ['RFC 9112 section 3: no request', 'garbage\r\n', 400],
    ['RFC 9110 section 9.1: an unknown method', 'BAKE / HTTP/1.1\r\nHost: a\r\n\r\n', 501],
    ['RFC 9112 section 3.2: two hosts', GET.replace('Host', 'Host: b\r\nHost'), 400],
    ['RFC 9112 section 5.2: a folded line', GET.replace('Host', 'X: a\r\n b\r\nHost'), 400],
  ])(
    'a held-back request does not change the next request: %s is %3$d',
    async (_, bytes, status) => {
      const listening = await start();
      const received = await exchange(listening, FIRST + GET + FIRST + bytes + GET);
      expect(statuses(received)).toEqual([200, 200, 200, status]);
      const [last = ''] = /HTTP\/1\.1 [45][^]*$/.exec(received) ?? [];
      expect(problemOf(last).status).toBe(status);
    },
  );

  test("RFC 9112 section 9.6: held-back requests are included in the limit of a connection's requests, and the last answer says `close`", async () => {
    const listening = await start(undefined, { requestsPerConnection: 5 });
    const received = await exchange(listening, (GET + FIRST).repeat(10) + GET.repeat(1000));
    expect(statuses(received)).toEqual(Array(5).fill(200));
    expect(received.match(/^connection: close\r$/gim)).toHaveLength(1);
  });

  test('a held-back request is not carried out if the answer before it says `close`', async () => {
    const asked: string[] = [];
    const listening = await start(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(200, { Connection: 'close' }).end();
    });
    const client = new TestSocket(listening);
    client.socket.write(FIRST + FIRST.repeat(5000));
    expect(statuses(await client.all)).toEqual([200]);
    expect(asked).toEqual(['/first']);
    expect(client.reset).toBe(false);
  });
});
