import { expect, test, describe } from '@jest/globals';
import type { Handler } from '../listen/listen.ts';
import { exchange, statuses, TestSocket } from '../wire/test-socket.fixture.ts';
import { CLOSING_GET, echo, GET, hello, problemOf, start } from '../wire/wire.fixture.ts';

describe('sizes', () => {
  const limits = { headerBytes: 4096, targetBytes: 1000 };
  const long = 'a'.repeat(5000);

  test('RFC 6585 section 5: a header section that is too large is 431', async () => {
    const received = await exchange(
      await start(hello, limits),
      `GET / HTTP/1.1\r\nX: ${long}\r\n\r\n`,
    );
    expect(problemOf(received).status).toBe(431);
  });

  test('RFC 6585 section 5: too many fields are 431', async () => {
    const received = await exchange(
      await start(hello, limits),
      `GET / HTTP/1.1\r\nHost: a\r\n${'a: b\r\n'.repeat(5000)}\r\n`,
    );
    expect(problemOf(received).status).toBe(431);
  });

  test('RFC 9112 section 3: a target over the limit is 414, in one read or in many', async () => {
    const bytes = `GET /${'a'.repeat(1000)} HTTP/1.1\r\nHost: a\r\n\r\n`;
    expect(problemOf(await exchange(await start(hello, limits), bytes)).status).toBe(414);
    const client = new TestSocket(await start(hello, limits));
    for (const piece of bytes.match(/[^]{1,400}/g) ?? []) await client.send(piece);
    expect(problemOf(await client.all).status).toBe(414);
  });

  test('RFC 9112 section 3: a target longer than the limit of the header section is 414', async () => {
    const listening = await start(hello, limits);
    expect(problemOf(await exchange(listening, `GET /${long} HTTP/1.1\r\n\r\n`)).status).toBe(414);
    expect(problemOf(await exchange(listening, `BAN /${'a'.repeat(20_000)}`)).status).toBe(414);
  });

  test('no field vanishes silently, however many there are', async () => {
    const listening = await start(
      (request, response) => {
        response.end(
          `${request.rawHeaders.length / 2} fields, last ${String(request.headers['last'])}`,
        );
      },
      { headerBytes: 65_536, fields: 3000 },
    );
    const many = 'a: b\r\n'.repeat(2500);
    const request = `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${many}Last: 1\r\n\r\n`;
    expect(await exchange(listening, request)).toContain('2503 fields, last 1');
  });
});

describe('RFC 9110 section 15.5.9: a request that does not arrive in time gets 408', () => {
  const limits = { headersTimeout: 50, requestTimeout: 60, checkInterval: 10 };

  test.each([
    ['nothing', ''],
    ['half a header section', 'GET / HTTP/1.1\r\nHos'],
    ['half an unknown method', 'BA'],
    ['half a request line with an unknown method', 'BAN / HT'],
  ])('a request of which only %s arrives in time gets 408', async (_, bytes) => {
    expect(problemOf(await exchange(await start(hello, limits), bytes)).status).toBe(408);
  });

  test('content that the handler waits for gets 408', async () => {
    const listening = await start(async (request, response) => {
      response.end(await echo(request).catch(() => 'cut'));
    }, limits);
    const received = await exchange(
      listening,
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab',
    );
    expect(problemOf(received).status).toBe(408);
  });
});

describe('RFC 9110 section 9.3.1: content of a method that takes none', () => {
  const limits = { needlessBytes: 100_000 };
  const get = (fields: string, content: string) =>
    `GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n${content}`;

  test.each([
    ['announced', get('Content-Length: 100000', 'x'.repeat(100_000))],
    [
      'in chunks',
      get('Transfer-Encoding: chunked', `186a0\r\n${'x'.repeat(100_000)}\r\n0\r\n\r\n`),
    ],
  ])('a little content is discarded, and the connection stays open: %s', async (_, bytes) => {
    const received = await exchange(await start(hello, limits), bytes + CLOSING_GET);
    expect(statuses(received)).toEqual([200, 200]);
  });

  test('RFC 9110 section 15.5.14: much content is 413, and the octets that follow are not read as a request', async () => {
    const bytes = get('Content-Length: 100001', 'x'.repeat(100_001));
    const listening = await start(hello, limits);
    expect(problemOf(await exchange(listening, bytes + GET)).status).toBe(413);
    const expecting = get('Content-Length: 100001\r\nExpect: 100-continue', '');
    expect(problemOf(await exchange(listening, expecting)).status).toBe(413);
  });

  test('endless chunks of such content are cut off', async () => {
    const client = new TestSocket(await start(hello, limits));
    client.socket.write(get('Transfer-Encoding: chunked', ''));
    const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    let sent = 0;
    while (!client.socket.destroyed && !client.socket.readableEnded) {
      client.socket.write(chunk);
      sent += 10_000;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeGreaterThan(100_000);
    expect(statuses(await client.all)).toEqual([200]);
  });
});

describe('content that the handler does not read', () => {
  const put = (length: number) =>
    `PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`;

  test('unread content is discarded up to the limit; beyond it the connection ends', async () => {
    const listening = await start(hello, { leftoverBytes: 500_000 });
    expect(statuses(await exchange(listening, put(500_000) + CLOSING_GET))).toEqual([200, 200]);
    expect(statuses(await exchange(listening, put(700_000) + CLOSING_GET))).toEqual([200]);
  });

  test('unread content is discarded, too, if the handler has begun to read it', async () => {
    const listening = await start(
      async (request, response) => {
        for await (const _ of request.iterator({ destroyOnReturn: false })) break;
        response.end('hello');
      },
      { leftoverBytes: 500_000 },
    );
    expect(statuses(await exchange(listening, put(500_000) + CLOSING_GET))).toEqual([200, 200]);
  });
});

describe('RFC 9110 section 15.5.9: content that is slow', () => {
  const limits = { pace: { bytes: 100, milliseconds: 20 } };
  const put = (fields: string) => `PUT / HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`;

  test.each([
    ['that stops', put('Content-Length: 100')],
    ['in chunks that stop', `${put('Transfer-Encoding: chunked')}1\r\nx\r\n`],
  ])('content %s gets 408', async (_, bytes) => {
    const reading: Handler = async (request, response) => {
      response.end(await echo(request).catch(() => 'cut'));
    };
    expect(problemOf(await exchange(await start(reading, limits), bytes)).status).toBe(408);
  });

  test('content that is slow after the answer ends the connection without another answer', async () => {
    const client = new TestSocket(await start(hello, limits));
    client.socket.write(put('Content-Length: 100'));
    expect(statuses(await client.all)).toEqual([200]);
  });

  test('content is not slow before the client has received 100 (section 10.1.1)', async () => {
    const later = Promise.withResolvers<void>();
    const listening = await start(async (request, response) => {
      await later.promise;
      response.end(await echo(request));
    }, limits);
    const client = new TestSocket(listening);
    await client.send(put('Content-Length: 5\r\nExpect: 100-continue'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.received).toBe('');
    later.resolve();
    await client.until('100 Continue');
    await client.send('hello');
    expect(statuses(await client.until('\r\n\r\nhello'))).toEqual([100, 200]);
    client.socket.destroy();
  });
});
