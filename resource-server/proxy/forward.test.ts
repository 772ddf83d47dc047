import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Scheme } from '#shared/auth/scheme.ts';
import { NEVER_ENDS } from '#shared/auth/standing/standing.fixture.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { exchange, statuses, TestSocket } from '#shared/server/wire/test-socket.fixture.ts';
import {
  ALICE,
  alone,
  stalled,
  startOrigin,
  startProxy,
  startTcp,
  stopAll,
} from './proxy.fixture.ts';
import type { ProxyOptions } from './proxy.fixture.ts';

afterEach(stopAll);

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly fields: readonly string[];
  readonly content: string;
  readonly trailers: readonly string[];
}

async function contentOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return text;
}

/** Starts a proxy to an origin that answers with the request that it got. */
async function echoing(options: ProxyOptions = {}) {
  const seen: Seen[] = [];
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const content = await contentOf(request);
    const { method, url, rawHeaders, rawTrailers } = request;
    const fields = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [],
    );
    seen.push({ method, url, fields, content, trailers: rawTrailers });
    response.end('echo');
  }
  const port = await startOrigin((request, response) => void answer(request, response));
  const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`], ...options });
  const at = `127.0.0.1:${port}`;
  /** Sends alice's request with these additional lines, and closes the connection after it. */
  const ask = (lines = '', content = '', method = 'GET') =>
    exchange(
      proxy.listening,
      `${method} http://${at}/a?b=c HTTP/1.1\r\nHost: ${at}\r\n${ALICE}${lines}Connection: close\r\n\r\n${content}`,
    );
  return { ...proxy, seen, ask, at };
}

/** Starts a proxy to a server that answers every request with these bytes. */
async function answering(
  bytes: string,
  after: (socket: Socket) => void = (socket) => socket.end(),
) {
  const { port, sockets } = await startTcp((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from(bytes, 'latin1'), () => after(socket));
    });
  });
  const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`] });
  const ask = (method = 'GET', version = '1.1') =>
    exchange(
      proxy.listening,
      `${method} http://127.0.0.1:${port}/ HTTP/${version}\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`,
    );
  return { ...proxy, ask, sockets, at: `127.0.0.1:${port}` };
}

const names = (fields: readonly string[]) =>
  fields.map((field) => field.toLowerCase().split(':')[0]);

describe('RFC 9110 section 11.7: authentication at the proxy', () => {
  test('a request to the proxy without credentials is 407 with a challenge, and is not forwarded', async () => {
    const { listening, at, seen } = await echoing();
    const received = await exchange(
      listening,
      `GET http://${at}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(statuses(received)).toEqual([407]);
    expect(received).toMatch(/^proxy-authenticate: Basic realm="proxy"/im);
    // The id identifies the log line.
    expect(received).toMatch(/^x-request-id: [\w-]{22}\r$/im);
    expect(seen).toEqual([]);
  });

  test.each([
    ['a browser', 'text/html,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['a program', '*/*', 'application/problem+json'],
  ])(
    'a client with %s gets a 407 in a suitable format, with the same challenge',
    async (_who, accept, type) => {
      const { listening, at } = await echoing();
      const received = await exchange(
        listening,
        `GET http://${at}/ HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`,
      );
      expect(statuses(received)).toEqual([407]);
      expect(received).toMatch(/^proxy-authenticate: Basic realm="proxy"/im);
      expect(received.toLowerCase()).toContain(`content-type: ${type}\r\n`);
    },
  );

  test('Authorization is for the origin: it is forwarded, and does not authenticate at the proxy', async () => {
    const { listening, at, ask, seen } = await echoing();
    const [, credentials = ''] = ALICE.split(': ');
    const refused = await exchange(
      listening,
      `GET http://${at}/ HTTP/1.1\r\nHost: a\r\nAuthorization: ${credentials}Connection: close\r\n\r\n`,
    );
    expect(statuses(refused)).toEqual([407]);
    expect(statuses(await ask('Authorization: Bearer of-the-origin\r\n'))).toEqual([200]);
    expect(seen[0]?.fields).toContain('Authorization: Bearer of-the-origin');
  });

  test('a client that loses its access while slow content arrives gets 403', async () => {
    const clock = new ManualClock();
    const slow: Scheme = {
      ...alone,
      authenticate(...args) {
        clock.advance(2);
        return alone.authenticate(...args);
      },
    };
    const standing = { ...NEVER_ENDS, holds: async () => false };
    const { ask, seen } = await echoing({ schemes: [slow], standing, clock });
    expect(statuses(await ask())).toEqual([403]);
    expect(seen).toEqual([]);
  });

  test('each request on a persistent connection is authenticated', async () => {
    const { listening, at, seen } = await echoing();
    const get = (lines: string) => `GET http://${at}/ HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
    const received = await exchange(
      listening,
      get(ALICE) + get('') + get(ALICE) + get('Connection: close\r\n'),
    );
    expect(statuses(received)).toEqual([200, 407, 200, 407]);
    expect(seen).toHaveLength(2);
  });

  test.each([
    ['a second value', `${ALICE}${ALICE}`],
    ['a wrong value after a right value', `${ALICE}Proxy-Authorization: Basic eDp5\r\n`],
    ['one that CGI would take for it', `${ALICE}Proxy_Authorization: Basic eDp5\r\n`],
    ['one in a second spelling', `${ALICE}PROXY-AUTHORIZATION: Basic eDp5\r\n`],
  ])('a request with Proxy-Authorization, %s, is 400 and is not forwarded', async (_, lines) => {
    const { listening, at, seen } = await echoing();
    const received = await exchange(
      listening,
      `GET http://${at}/ HTTP/1.1\r\nHost: a\r\n${lines}Connection: close\r\n\r\n`,
    );
    expect(statuses(received)).toEqual([400]);
    expect(seen).toEqual([]);
  });

  test('the proxy requires credentials before it reveals anything about a destination', async () => {
    const { listening } = await startProxy();
    const received = await exchange(
      listening,
      'GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(statuses(received)).toEqual([407]);
  });

  test('fields that the scheme sends to an authenticated client are on every answer', async () => {
    const owing: Scheme = {
      ...alone,
      async authenticate(...args) {
        const verdict = await alone.authenticate(...args);
        const proof = { info: { rspauth: 'proof' } };
        return verdict.kind === 'granted' ? { ...verdict, proof } : verdict;
      },
    };
    const { ask, listening } = await echoing({ schemes: [owing] });
    expect(await ask()).toMatch(/^proxy-authentication-info: rspauth="proof"$/im);
    const received = await exchange(
      listening,
      `GET http://10.0.0.1/ HTTP/1.1\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`,
    );
    expect(received).toMatch(/ 403 [^]*^proxy-authentication-info: rspauth="proof"$/im);
  });
});

describe('RFC 9110 section 7.6.1: fields that are not forwarded', () => {
  const HOP = [
    'Proxy-Connection: keep-alive',
    'Keep-Alive: timeout=5',
    'TE: gzip',
    'Upgrade: websocket',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
    'Proxy-Authenticate: Basic realm="x"',
    'Proxy-Authentication-Info: a=b',
    'Trailer: X-Sum',
    'Concealed-Auth-Export: :AAAA:',
    'Forwarded: for=1.1.1.1',
    'X-Forwarded-For: 1.1.1.1',
    'X-Forwarded-Proto: https',
    'X_Forwarded_For: 1.1.1.1',
    'X-Real-IP: 1.1.1.1',
    'Client-Cert: :AAAA:',
    'Remote-User: alice',
    'X_Remote_User: alice',
    'X-Auth-Subject: alice',
    'X-Auth-Statement: e30.e30.e30',
  ];

  test.each(HOP)('the field %s is not forwarded', async (line) => {
    const { ask, seen } = await echoing();
    expect(statuses(await ask(`${line}\r\nX-Stays: 1\r\n`))).toEqual([200]);
    expect(seen[0]?.fields).toContain('X-Stays: 1');
    expect(names(seen[0]?.fields ?? [])).not.toContain(line.toLowerCase().split(':')[0]);
  });

  test.each(['X-Auth-Token: a', 'X-API-Key: a', 'X-HTTP-Method-Override: PUT', 'X-User-Id: a'])(
    'the field %s is forwarded, since it is for the destination',
    async (line) => {
      const { ask, seen } = await echoing();
      expect(statuses(await ask(`${line}\r\n`))).toEqual([200]);
      expect(seen[0]?.fields).toContain(line);
    },
  );

  test('credentials for the proxy are never forwarded', async () => {
    const { ask, seen } = await echoing();
    await ask();
    expect(JSON.stringify(seen)).not.toMatch(/proxy.authorization|YWxpY2U6/i);
  });

  test('a field that Connection names is removed, even on another line and in another case', async () => {
    const { ask, seen } = await echoing();
    const lines = 'Connection: x-hop ,, X-OTHER\r\nX-Hop: 1\r\nx-other: 2\r\nX-Stays: 3\r\n';
    expect(statuses(await ask(lines))).toEqual([200]);
    expect(seen[0]?.fields.filter((field) => /^x-/i.test(field))).toEqual(['X-Stays: 3']);
  });

  test.each([
    'Host',
    'Content-Length',
    'content-type',
    'Authorization',
    'Cookie',
    'Via',
    'Max-Forwards',
    'Cache-Control',
    'Expect',
    'If-Match',
    'Range',
    'Origin',
    'Sec-Fetch-Site',
    'DPoP',
    'X-API-Key',
  ])('a Connection that names %s is 400, and is not forwarded', async (name) => {
    const { ask, seen } = await echoing();
    expect(statuses(await ask(`Connection: ${name}\r\n`))).toEqual([400]);
    expect(seen).toEqual([]);
  });

  test.each(['Connection: "a\r\n', 'TE: "a\r\n'])('the malformed list %j is 400', async (line) => {
    const { ask, seen } = await echoing();
    expect(statuses(await ask(line))).toEqual([400]);
    expect(seen).toEqual([]);
  });

  test('end-to-end fields are forwarded in order, with all their lines', async () => {
    const { ask, seen } = await echoing();
    await ask('Accept: a\r\nX-B: 1\r\nAccept: b\r\nX-A: caf\xe9\r\n__proto__: x\r\n');
    expect(seen[0]?.fields.slice(1, 6)).toEqual([
      'Accept: a',
      'X-B: 1',
      'Accept: b',
      'X-A: caf\xe9',
      '__proto__: x',
    ]);
  });

  test('RFC 9110 section 6.5.1: TE announces trailers if the client accepts them', async () => {
    const { ask, seen } = await echoing();
    await ask('TE: trailers\r\n');
    expect(seen[0]?.fields).toContain('TE: trailers');
    expect(seen[0]?.fields).toContain('Connection: close, TE');
  });
});

describe('RFC 9112 section 3.2.2: the target', () => {
  test('the target takes precedence over Host, which is rewritten', async () => {
    const { listening, at, seen } = await echoing();
    await exchange(
      listening,
      `GET http://${at}/x HTTP/1.1\r\nHost: internal.example\r\n${ALICE}Connection: close\r\n\r\n`,
    );
    expect(seen[0]?.url).toBe('/x');
    expect(seen[0]?.fields.filter((field) => /^host:/i.test(field))).toEqual([`Host: ${at}`]);
  });

  test.each(['/', '/health/live', '*'])(
    'the target %s is for an origin server: 421',
    async (target) => {
      const { listening } = await startProxy();
      const received = await exchange(
        listening,
        `OPTIONS ${target} HTTP/1.1\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`,
      );
      expect(statuses(received)).toEqual([421]);
    },
  );

  test.each(['https://127.0.0.1/', 'ftp://a/', 'http://alice:secret@127.0.0.1/', 'http://a:0/'])(
    'the target %s is 400',
    async (target) => {
      const { listening, lines } = await startProxy();
      const received = await exchange(
        listening,
        `GET ${target} HTTP/1.1\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`,
      );
      expect(statuses(received)).toEqual([400]);
      expect(JSON.stringify(lines)).not.toContain('secret');
    },
  );
});

describe('RFC 9110 section 7.6.3: Via', () => {
  test('Via is added in both directions, after existing values', async () => {
    const { ask, seen } = await echoing();
    const received = await ask('Via: 1.0 fred (a "b, c)\r\n');
    const own = /^1\.1 countersign-[0-9a-f]{12}$/;
    const [first, second] = seen[0]?.fields.filter((field) => /^via:/i.test(field)) ?? [];
    expect(first).toBe('Via: 1.0 fred (a "b, c)');
    expect(second?.slice(5)).toMatch(own);
    expect(/^via: (.*)\r$/im.exec(received)?.[1]).toMatch(own);
  });

  test("Via with the proxy's own name is a loop: 508", async () => {
    const { ask, seen } = await echoing();
    await ask();
    const via = seen[0]?.fields.find((field) => field.startsWith('Via')) ?? '';
    expect(statuses(await ask(`Via: 1.1 a\r\n${via}, 1.1 b\r\n`))).toEqual([508]);
    expect(seen).toHaveLength(1);
  });
});

describe('RFC 9110 section 7.6.2: Max-Forwards', () => {
  test.each(['TRACE', 'OPTIONS'])(
    'a %s with Max-Forwards: 0 is answered by the proxy',
    async (method) => {
      const { ask, seen } = await echoing();
      const received = await ask(
        'Max-Forwards: 0\r\nCookie: a=secret\r\nAuthorization: Bearer secret\r\nX-API-Key: secret\r\nX-A: 1\r\n',
        '',
        method,
      );
      expect(statuses(received)).toEqual([method === 'TRACE' ? 200 : 204]);
      expect(received).toMatch(
        method === 'TRACE' ? /^content-type: message\/http\r$[^]*^X-A: 1\r$/im : /^allow: GET, /im,
      );
      expect(received).not.toMatch(/secret|YWxpY2U6/);
      expect(seen).toEqual([]);
    },
  );

  test.each(['TRACE', 'OPTIONS'])(
    'a %s with a higher Max-Forwards is forwarded with one less',
    async (method) => {
      const { ask, seen } = await echoing();
      await ask('Max-Forwards: 10\r\n', '', method);
      expect(seen[0]?.fields.filter((field) => /^max/i.test(field))).toEqual(['Max-Forwards: 9']);
    },
  );

  test('Max-Forwards is forwarded unchanged for other methods', async () => {
    const { ask, seen } = await echoing();
    await ask('Max-Forwards: 0\r\n');
    expect(seen[0]?.fields).toContain('Max-Forwards: 0');
  });

  test.each(['-1', '1.5', 'a', '', '1, 1', '99999999999', '1\r\nMax-Forwards: 0'])(
    'Max-Forwards: %j is 400',
    async (value) => {
      const { ask, seen } = await echoing();
      expect(statuses(await ask(`Max-Forwards: ${value}\r\n`, '', 'TRACE'))).toEqual([400]);
      expect(seen).toEqual([]);
    },
  );

  test('RFC 9110 section 9.3.8: TRACE with content is 400', async () => {
    const { ask } = await echoing();
    expect(statuses(await ask('Content-Length: 2\r\n', 'ab', 'TRACE'))).toEqual([400]);
  });
});

describe('RFC 9112 section 6: content and its framing', () => {
  test.each([
    ['a length', 'Content-Length: 5\r\n', 'hello', ['Content-Length: 5']],
    [
      'chunks',
      'Transfer-Encoding: chunked\r\n',
      '2;ext="x"\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
      ['Transfer-Encoding: chunked'],
    ],
    ['nothing', '', '', ['Content-Length: 0']],
  ])('the proxy forwards POST with %s', async (_, lines, content, framing) => {
    const { ask, seen } = await echoing();
    expect(statuses(await ask(lines, content, 'POST'))).toEqual([200]);
    expect(seen[0]?.content).toBe(content === '' ? '' : 'hello');
    expect(seen[0]?.fields.filter((field) => /^(content-l|transfer)/i.test(field))).toEqual(
      framing,
    );
  });

  test('the proxy forwards GET with chunked content completely', async () => {
    const { ask, seen } = await echoing();
    await ask('Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n');
    expect(seen).toMatchObject([{ method: 'GET', content: 'hello' }]);
  });

  test('RFC 9110 section 6.5: trailers are forwarded, except critical fields', async () => {
    const { ask, seen } = await echoing();
    const trailers = 'X-Sum: 1\r\nHost: b\r\nProxy-Authorization: x\r\nX-Hop: 2\r\n';
    await ask(
      'Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: x-hop\r\n',
      `5\r\nhello\r\n0\r\n${trailers}\r\n`,
      'POST',
    );
    expect(seen).toMatchObject([{ content: 'hello', trailers: ['X-Sum', '1'] }]);
    expect(seen[0]?.fields).toContain('Trailer: X-Sum');
  });

  const SMUGGLED = 'GET http://127.0.0.1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

  test.each([
    ['length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n'],
    ['chunks and length', 'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n'],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 40\r\n'],
    ['a list of lengths', 'Content-Length: 4, 4\r\n'],
    ['a sign', 'Content-Length: +4\r\n'],
    ['two codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
    ['another coding', 'Transfer-Encoding: gzip, chunked\r\n'],
    ['a coding that hides', 'Transfer-Encoding: xchunked\r\n'],
    ['a tab before chunked', 'Transfer-Encoding:\tchunked, identity\r\n'],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\n'],
    ['a folded line', 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n'],
    ['a look-alike', 'Transfer_Encoding: chunked\r\nContent-Length: 4\r\n'],
    ['a length in another field', 'Content_Length: 40\r\nContent-Length: 4\r\n'],
  ])(
    'RFC 9112 section 11.2: request smuggling with %s is refused and not forwarded',
    async (_, lines) => {
      const { listening, at, seen } = await echoing();
      const received = await exchange(
        listening,
        `POST http://${at}/ HTTP/1.1\r\nHost: a\r\n${ALICE}${lines}\r\n0\r\n\r\n${SMUGGLED}`,
      );
      const [status, ...more] = statuses(received);
      expect(status).toBe(lines.includes('gzip') ? 501 : 400);
      expect(more).not.toContain(200);
      expect(seen).toEqual([]);
    },
  );

  test('RFC 9112 section 8: truncated content never becomes a complete request', async () => {
    const { port, sockets } = await startTcp((socket) => socket.resume());
    const { listening } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const client = new TestSocket(listening);
    await client.send(
      `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Content-Length: 9\r\n\r\nab`,
    );
    while (sockets.size === 0) await new Promise((resolve) => setImmediate(resolve));
    const [origin] = sockets;
    const cut = new Promise((resolve) => origin?.once('close', resolve));
    client.socket.destroy();
    await cut;
  });

  test('malformed chunks abort the request to the origin', async () => {
    const { port, sockets } = await startTcp((socket) => socket.resume());
    const { listening } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const client = new TestSocket(listening);
    await client.send(
      `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Transfer-Encoding: chunked\r\n\r\n`,
    );
    while (sockets.size === 0) await new Promise((resolve) => setImmediate(resolve));
    const [origin] = sockets;
    const cut = new Promise((resolve) => origin?.once('close', resolve));
    await client.send('zz\r\n');
    expect(statuses(await client.all)).toEqual([400]);
    await cut;
  });

  test('an answer is forwarded even if the content has not begun', async () => {
    const port = await startOrigin((_request, response) => response.writeHead(413).end());
    const { listening } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const client = new TestSocket(listening);
    await client.send(
      `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Content-Length: 5\r\n\r\n`,
    );
    await client.until('HTTP/1.1 413 ');
    client.socket.destroy();
  });

  test('an answer is forwarded even if the content is incomplete', async () => {
    const { port } = await startTcp((socket) => {
      socket.once('data', () => {
        socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
      });
    });
    const { listening } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const client = new TestSocket(listening);
    await client.send(
      `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Content-Length: 100000\r\n\r\nab`,
    );
    expect(statuses(await client.until('\r\n\r\nno'))).toEqual([413]);
  });
});

describe('RFC 9110 section 10.1.1: Expect', () => {
  const PUT = (at: string) =>
    `PUT http://${at}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`;

  test("the proxy returns the origin's 100, and then forwards the content", async () => {
    const { listening, at, seen } = await echoing();
    const client = new TestSocket(listening);
    await client.send(PUT(at));
    await client.until('100 Continue');
    expect(seen).toEqual([]);
    await client.send('hello');
    expect(statuses(await client.until('echo'))).toEqual([100, 200]);
    expect(seen).toMatchObject([{ content: 'hello' }]);
    expect(seen[0]?.fields).toContain('Expect: 100-continue');
  });

  test('the origin can refuse a request with Expect before the content is sent', async () => {
    const { listening, at } = await answering(
      'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="o"\r\nContent-Length: 0\r\n\r\n',
    );
    const received = await exchange(listening, `${PUT(at)}GET /smuggled HTTP/1.1\r\n\r\n`);
    expect(statuses(received)).toEqual([401]);
    expect(received).toMatch(/^www-authenticate: Basic realm="o"/im);
    expect(received).toMatch(/^connection: close/im);
  });

  test('a 407 comes before 100 Continue', async () => {
    const { listening, at, seen } = await echoing();
    const received = await exchange(listening, PUT(at).replace(ALICE, ''));
    expect(statuses(received)).toEqual([407]);
    expect(seen).toEqual([]);
  });

  test('a server that sends no 100 gets the content nevertheless', async () => {
    const { port } = await startTcp((socket) => {
      let all = '';
      socket.on('data', (data: Buffer) => {
        all += data.toString('latin1');
        if (all.endsWith('hello')) socket.end('HTTP/1.0 200 OK\r\n\r\ndone');
      });
    });
    const { listening } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const client = new TestSocket(listening);
    await client.send(PUT(`127.0.0.1:${port}`));
    await client.until('100 Continue');
    await client.send('hello');
    expect(statuses(await client.until('done'))).toEqual([100, 200]);
  });
});

describe('answers', () => {
  test('RFC 9110 section 7.6.1: hop-by-hop fields are not returned', async () => {
    const { ask } = await answering(
      [
        'HTTP/1.1 200 OK',
        'Connection: x-hop, close',
        'X-Hop: 1',
        'Keep-Alive: timeout=9',
        'Proxy-Authenticate: Basic realm="theirs"',
        'Proxy-Authentication-Info: nextnonce="theirs"',
        'Proxy-Connection: keep-alive',
        'Upgrade: h2c',
        'Authentication-Info: rspauth="o"',
        'WWW-Authenticate: Basic realm="o"',
        'Set-Cookie: a=1',
        'X-Stays: 1',
        'Set-Cookie: b=2',
        'Content-Length: 2',
        '',
        'ok',
      ].join('\r\n'),
    );
    const received = await ask();
    expect(received).not.toMatch(/x-hop|timeout=9|theirs|proxy-connection|h2c/i);
    expect(received).toMatch(/^authentication-info: rspauth="o"\r$/im);
    expect(received).toMatch(/^www-authenticate: Basic realm="o"\r$/im);
    expect(received.match(/^set-cookie: .*$/gim)).toEqual(['Set-Cookie: a=1', 'Set-Cookie: b=2']);
    expect(received).toMatch(/^x-stays: 1\r$[^]*\r\n\r\nok$/im);
  });

  test.each([
    [
      '407, which only the proxy itself may send',
      'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n',
    ],
    [
      '101, which was not requested',
      'HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    ['an invalid status', 'HTTP/1.1 099 No\r\n\r\n'],
    ['a status above the range', 'HTTP/1.1 999 No\r\n\r\n'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['HTTP/0.9', '<html>'],
    ['nothing', ''],
    ['half a header section', 'HTTP/1.1 200 OK\r\nX: '],
    ['a header section without end', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}`],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd'],
    ['a bare CR in a field', 'HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\n\r\n'],
    ['NUL in a field', 'HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n'],
    ['a folded line', 'HTTP/1.1 200 OK\r\nX: a\r\n Set-Cookie: b\r\nContent-Length: 0\r\n\r\n'],
  ])('RFC 9110 section 15.6.3: an answer with %s is 502', async (_, bytes) => {
    const { ask } = await answering(bytes);
    const received = await ask();
    expect(statuses(received)).toEqual([502]);
    expect(received).not.toMatch(/proxy-authenticate|set-cookie/i);
  });

  test('a refused connection is 502, and the log gives the reason', async () => {
    const { port } = await startTcp(() => {});
    await stopAll();
    const { listening, lines } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const received = await exchange(
      listening,
      `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`,
    );
    expect(statuses(received)).toEqual([502]);
    expect(lines).toMatchObject([{ status: 502, reason: expect.stringContaining('ECONNREFUSED') }]);
  });

  test('RFC 9110 section 15.6.5: a silent origin is 504', async () => {
    const { port, sockets } = await startTcp((socket) => socket.resume());
    const { listening } = await startProxy({ destinations: [`127.0.0.1:${port}`], idle: 0.05 });
    const received = await exchange(
      listening,
      `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`,
    );
    expect(statuses(received)).toEqual([504]);
    while (sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test.each([
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', '1.1'],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', '1.1'],
    [
      'chunks, to HTTP/1.0',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
      '1.0',
    ],
  ])(
    'RFC 9112 section 8: an aborted answer with %s has no clean end',
    async (_, bytes, version) => {
      const { at, listening } = await answering(bytes);
      const client = new TestSocket(listening);
      const failed = new Promise((resolve) => client.socket.once('error', resolve));
      await client.send(`GET http://${at}/ HTTP/${version}\r\nHost: a\r\n${ALICE}\r\n`);
      const received = await client.all;
      expect(received).toContain('half');
      expect(received).not.toMatch(/\r\n0\r\n/);
      expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    },
  );

  test('an answer delimited by the end of the connection has no clean end after a reset', async () => {
    const { at, listening } = await answering('HTTP/1.1 200 OK\r\n\r\nhalf', (socket) => {
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const received = await exchange(
      listening,
      `GET http://${at}/ HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`,
    );
    expect(received).toContain('half');
    expect(received).not.toMatch(/\r\n0\r\n/);
  });

  test('an answer delimited by the end of the connection becomes chunked, so that its end is visible', async () => {
    const { ask } = await answering('HTTP/1.0 200 OK\r\n\r\nall of it');
    const received = await ask();
    expect(received).toMatch(/^transfer-encoding: chunked\r$[^]*all of it\r\n0\r\n\r\n$/im);
    expect(received).toMatch(/^via: 1\.0 countersign/im);
  });

  test('HTTP/1.0 clients get no chunks', async () => {
    const { ask } = await answering(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n2\r\nok\r\n0\r\nX: 1\r\n\r\n',
    );
    const received = await ask('GET', '1.0');
    expect(received).toMatch(/\r\n\r\nok$/);
    expect(received).not.toMatch(/transfer-encoding/i);
  });

  test.each([
    [
      'HEAD',
      'HTTP/1.1 200 OK\r\nContent-Length: 100\r\nTrailer: X\r\n\r\n',
      /^content-length: 100\r$/im,
    ],
    [
      'GET',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n',
      /^content-length: 100\r$/im,
    ],
    ['GET', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n', / 204 /],
  ])('an answer %s: %j has no content', async (method, bytes, expected) => {
    const { ask } = await answering(bytes);
    const received = await ask(method);
    expect(received).toMatch(expected);
    expect(received).toMatch(/\r\n\r\n$/);
    expect(received).not.toMatch(/chunked/i);
  });

  test('RFC 9110 section 6.5: trailers are returned, except critical fields', async () => {
    const { ask } = await answering(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nSet-Cookie: a\r\nProxy-Authentication-Info: b\r\n\r\n',
    );
    const received = await ask();
    expect(received).toMatch(/^trailer: X-Sum\r$/im);
    expect(received).toMatch(/\r\n0\r\nX-Sum: 1\r\n\r\n$/);
  });

  test('RFC 9110 section 15.2: interim answers are passed on', async () => {
    const hint =
      'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nConnection: x\r\nX: 1\r\n\r\n';
    const { ask } = await answering(
      `${hint.repeat(15)}HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`,
    );
    const received = await ask();
    const codes = statuses(received);
    expect(codes).toEqual([...Array<number>(15).fill(103), 200]);
    expect(received).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>; rel=preload\r\nVia: /);
    expect(received).not.toMatch(/^X: 1/im);
  });

  test('HTTP/1.0 clients get no interim answer', async () => {
    const { ask } = await answering(
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    );
    expect(statuses(await ask('GET', '1.0'))).toEqual([200]);
  });

  test('the proxy reads no more from the origin than the client reads', async () => {
    let sent = 0;
    const port = await startOrigin((_request, response) => {
      const piece = Buffer.alloc(65_536);
      const write = () => {
        do sent += piece.length;
        while (response.write(piece));
      };
      response.on('drain', write);
      write();
    });
    const { listening } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const client = new TestSocket(listening);
    client.socket.pause();
    client.socket.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`);
    await stalled(() => sent);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    client.socket.destroy();
  });

  test('the header of an answer is sent before its content arrives', async () => {
    const { at, listening } = await answering('HTTP/1.1 200 OK\r\nA: b\r\n\r\n', () => {});
    const client = new TestSocket(listening);
    await client.send(`GET http://${at}/ HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`);
    await client.until('\r\nA: b\r\n');
    client.socket.destroy();
  });

  test('a client that leaves aborts the request to the origin', async () => {
    const { at, listening, sockets } = await answering('HTTP/1.1 200 OK\r\n\r\nhalf', () => {});
    const client = new TestSocket(listening);
    await client.send(`GET http://${at}/ HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`);
    await client.until('half');
    const [origin] = sockets;
    const cut = new Promise((resolve) => origin?.once('close', resolve));
    client.socket.destroy();
    await cut;
  });
});

describe("RFC 7616 section 3.5: a proof of the answer's content", () => {
  const sealing: Scheme = {
    ...alone,
    async authenticate(...args) {
      const verdict = await alone.authenticate(...args);
      const proof = (digest: Buffer) => ({ info: { rspauth: digest.toString('hex') } });
      return verdict.kind === 'granted' ? { ...verdict, seal: { hash: 'md5', proof } } : verdict;
    },
  };
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const utf8 = (received: string) => Buffer.from(received, 'latin1').toString();

  test('the proof of a streamed answer is in its trailer', async () => {
    const { ask } = await echoing({ schemes: [sealing] });
    const received = await ask();
    expect(received).toMatch(/^trailer: Proxy-Authentication-Info\r$/im);
    expect(received).not.toMatch(/^content-length/im);
    expect(received.slice(received.indexOf('\r\n\r\n'))).toMatch(
      new RegExp(`echo\r\n0\r\nProxy-Authentication-Info: rspauth="${md5('echo')}"\r\n\r\n$`),
    );
  });

  test('the proof of an answer without content is in its header', async () => {
    const { ask } = await echoing({ schemes: [sealing] });
    const received = await ask('', '', 'HEAD');
    expect(received).toMatch(new RegExp(`^proxy-authentication-info: rspauth="${md5('')}"`, 'im'));
  });

  test.each(['*/*', 'text/html'])(
    "the proxy's own refusal in %s has its proof in a field",
    async (accept) => {
      const { listening } = await startProxy({ schemes: [sealing] });
      const received = await exchange(
        listening,
        `GET http://10.0.0.1/ HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\n${ALICE}Connection: close\r\n\r\n`,
      );
      const [head = '', body = ''] = received.split('\r\n\r\n');
      expect(statuses(received)).toEqual([403]);
      expect(head).toMatch(
        new RegExp(`^proxy-authentication-info: rspauth="${md5(utf8(body))}"`, 'im'),
      );
    },
  );

  test('an answer over HTTP/1.0, which has no trailers, has no proof', async () => {
    const { listening, at } = await echoing({ schemes: [sealing] });
    const received = await exchange(
      listening,
      `GET http://${at}/ HTTP/1.0\r\nHost: a\r\n${ALICE}\r\n`,
    );
    expect(received).toMatch(/ 200 [^]*\r\n\r\necho$/);
    expect(received).not.toMatch(/rspauth/);
  });
});

describe('RFC 9110 section 9.3.6: destinations', () => {
  test.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://localhost./',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::]/',
    'http://0.0.0.0/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:7f00:1::]/',
    'http://10.0.0.1/',
    'http://100.100.100.200/',
    'http://1.1.1.1:22/',
  ])('the destination %s is 403 with problem details', async (target) => {
    const { listening } = await startProxy({ destinations: ['public:80'] });
    const received = await exchange(
      listening,
      `GET ${target} HTTP/1.1\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`,
    );
    expect(statuses(received)).toEqual([403]);
    expect(received).toMatch(/^content-type: application\/problem\+json\r$/im);
  });

  test('a name that resolves to loopback at its second look-up is refused then', async () => {
    const { at, ask: _, seen } = await echoing();
    const [, port] = at.split(':');
    const answers = [['1.1.1.1'], ['127.0.0.1']];
    const dialled: string[] = [];
    const { listening } = await startProxy({
      destinations: [`public:${port}`],
      network: {
        resolve: async () => answers.shift() ?? [],
        dial: async (address) => {
          dialled.push(address);
          throw new Error('nobody is there');
        },
      },
    });
    const get = `GET http://rebinding.example:${port}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`;
    expect(statuses(await exchange(listening, get))).toEqual([502]);
    expect(statuses(await exchange(listening, get))).toEqual([403]);
    expect(dialled).toEqual(['1.1.1.1']);
    expect(seen).toEqual([]);
  });
});

test('the log has one line per request, without credentials or query', async () => {
  const { ask, lines, at } = await echoing();
  await ask('Authorization: Bearer of-the-origin\r\nCookie: a=b\r\n');
  expect(lines).toEqual([
    {
      time: expect.any(String),
      level: 'info',
      server: 'test',
      event: 'proxy.request',
      id: expect.any(String),
      method: 'GET',
      host: at,
      path: '/a',
      space: 'proxy',
      verdict: 'granted',
      scheme: 'Basic',
      subject: 'alice',
      status: 200,
      milliseconds: expect.any(Number),
    },
  ]);
});
