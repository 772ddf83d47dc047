import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import http2 from 'node:http2';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { frame, headersFrame, OPENING } from '#shared/server/wire/http2-frames.fixture.ts';
import { rawHttp, statusOf } from '../parts/raw-http.ts';
import { until } from '../parts/process.ts';
import { assertAlive, assertSound, MAX_BYTES, startTreeServers, stateOf } from './trees.fixture.ts';
import type { State, Tenant, TreeServers } from './trees.fixture.ts';

/** Request content that never ends, ends early, arrives slowly, has a wrong length, or is refused. */
const PACE = { bytes: 3000, seconds: 2 };
/** The server discards at most this many bytes of content after an answer. */
const LEFTOVER = 200_000;
/** More bytes than a client can send in the second after its refusal. */
const ENDLESS = 10_000_000_000;

const XML = 'application/xml';
const LOCKINFO =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
const PROPERTYUPDATE =
  '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><a>1</a></D:prop></D:set></D:propertyupdate>';

const parts = new AsyncDisposableStack();
let servers: TreeServers;
let me: Tenant;
beforeAll(async () => {
  const server = { pace: PACE, leftoverBytes: LEFTOVER };
  servers = parts.use(await startTreeServers('sqlite', { server }));
});
afterAll(() => parts.disposeAsync());

let before: State;
beforeEach(async () => {
  me = await servers.newcomer();
  await me.ask(0, 'PUT', 'doc', { body: 'content' });
  await me.ask(0, 'PUT', 'json', { headers: { 'Content-Type': 'application/json' }, body: '{}' });
  await me.ask(0, 'MKCOL', 'col');
  await me.ask(0, 'LOCK', 'locked', { headers: { 'Content-Type': XML }, body: LOCKINFO });
  before = await stateOf(servers, me.tree);
});

const urlOf = (server: number) => servers.pair.resources[server]?.url ?? '';

function head(method: string, path: string, lines: readonly string[] = []): string {
  const all = ['Host: localhost', me.credentials.join(': '), ...lines];
  return `${method} /dav/${path} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`;
}

/** Begins an HTTP/2 request whose content is sent later. */
function begin(
  session: http2.ClientHttp2Session,
  method: string,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): http2.ClientHttp2Stream {
  const headers = { ...Object.fromEntries([me.credentials]), ...fields };
  const stream = session.request(
    { ...headers, ':method': method, ':path': `/dav/${path}`, ':authority': 'localhost' },
    { endStream: false },
  );
  stream.on('error', () => {});
  return stream.resume();
}

async function withHttp2<T>(work: (session: http2.ClientHttp2Session) => Promise<T>): Promise<T> {
  const session = http2.connect(urlOf(1)).on('error', () => {});
  try {
    return await work(session);
  } finally {
    session.destroy();
  }
}

async function answerOn(stream: http2.ClientHttp2Stream): Promise<number> {
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  return Number(headers[':status']);
}

/** Expects that rows, locks and files are the same as before the test. */
async function expectUnchanged(): Promise<void> {
  // These writes come after any late commit of the requests before.
  for (const server of [0, 1])
    expect((await me.ask(server, 'PUT', 'x', { body: '' })).status).toBeLessThan(300);
  expect((await me.ask(0, 'DELETE', 'x')).status).toBe(204);
  expect(await stateOf(servers, me.tree)).toEqual(before);
  await assertSound(servers, me.tree);
}

/** The status for each request with endless content. A method without content answers as usual. */
const ENDLESSLY: readonly (readonly [
  method: string,
  path: string,
  status: number,
  ...lines: string[],
])[] = [
  ['GET', 'doc', 200],
  ['HEAD', 'doc', 200],
  ['OPTIONS', 'doc', 204],
  ['POST', 'col/', 413],
  ['PUT', 'doc', 413],
  ['PATCH', 'json', 413, 'Content-Type: application/merge-patch+json'],
  ['QUERY', 'json', 413, 'Content-Type: application/jsonpath'],
  ['PROPFIND', '', 413, `Content-Type: ${XML}`],
  ['PROPPATCH', 'doc', 413, `Content-Type: ${XML}`],
  ['LOCK', 'doc', 413, `Content-Type: ${XML}`],
  ['MKCOL', 'new/', 415],
  ['UNLOCK', 'doc', 400],
  ['COPY', 'doc', 412, 'Destination: /dav/json', 'Overwrite: F'],
  ['MOVE', 'doc', 412, 'Destination: /dav/json', 'Overwrite: F'],
  ['DELETE', 'doc', 412, 'If-Match: "other"'],
];

/**
 * Resolves when the socket closes. (`once` of `node:events` would reject after a reset, which is a normal
 * end here.)
 */
const closing = (socket: Socket) =>
  new Promise<void>((resolve) => void socket.once('close', () => resolve()));

describe('content without an end (RFC 9110 sections 9.3.1 and 15.5.14)', () => {
  test.each(ENDLESSLY)(
    '%s %s with endless content over HTTP/1.1 is answered with %i, and the server closes the connection',
    async (...asked) => {
      const [method, path, status, ...lines] = asked;
      const { hostname: host, port } = new URL(urlOf(0));
      const socket = connect({ host, port: Number(port) });
      let received = '';
      socket.on('data', (data) => {
        received += data.toString('latin1');
      });
      socket.on('error', () => {});
      const closed = closing(socket);
      socket.write(head(method, path, ['Transfer-Encoding: chunked', ...lines]));
      const chunk = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`;
      let sent = 0;
      while (!socket.destroyed && sent < ENDLESS) {
        if (!socket.write(chunk))
          await Promise.race([once(socket, 'drain'), closed]).catch(() => {});
        sent += chunk.length;
      }
      await closed;
      expect(sent).toBeLessThan(ENDLESS);
      expect([statusOf(received), received.match(/^HTTP/gm)?.length]).toEqual([status, 1]);
      await expectUnchanged();
    },
  );

  test('over HTTP/2 endless content gets the same answers: the server ends the stream and keeps the connection', () =>
    withHttp2(async (session) => {
      for (const [method, path, status, ...lines] of ENDLESSLY) {
        const fields = Object.fromEntries(lines.map((line) => line.split(': ')));
        const stream = begin(session, method, path, fields);
        const answered = answerOn(stream);
        const chunk = Buffer.alloc(65_536, ' ');
        let sent = 0;
        while (!stream.closed && sent < ENDLESS) {
          // If the stream ends during a write, the callback of the write never comes.
          if (!stream.write(chunk)) await until(() => stream.closed || !stream.writableNeedDrain);
          sent += chunk.length;
        }
        expect([method, await answered]).toEqual([method, status]);
        expect(sent).toBeLessThan(ENDLESS);
      }
      expect(await answerOn(begin(session, 'GET', 'doc').end())).toBe(200);
      await expectUnchanged();
    }));
});

const NONE = Buffer.alloc(0);

/** Requests whose content, as sent so far, would be valid if it were complete. */
const UPLOADS = [
  ['PUT', 'doc', 'text/plain', 'other'],
  ['PUT', 'new', 'text/plain', 'other'],
  ['POST', 'col/', 'text/plain', 'other'],
  ['PATCH', 'json', 'application/merge-patch+json', '{"a":1}'],
  ['PATCH', 'new.json', 'application/merge-patch+json', '{"a":1}'],
  ['PROPPATCH', 'doc', XML, PROPERTYUPDATE],
  ['LOCK', 'doc', XML, LOCKINFO],
  ['LOCK', 'new', XML, LOCKINFO],
  ['MKCOL', 'new/', '', ''],
] as const;

/** The number of finished requests in the logs of both servers. */
const requestsOver = () =>
  servers.pair.resources.reduce(
    (sum, { log }) => sum + log.split('"event":"request"').length - 1,
    0,
  );

describe('a request that is cut off changes nothing (RFC 9112 section 8, RFC 9113 section 8.1)', () => {
  const framings = [
    ['Content-Length', (content: string) => [`Content-Length: ${content.length + 1}`, content]],
    [
      'chunks without the last',
      (content: string) => [
        'Transfer-Encoding: chunked',
        content === '' ? '' : `${content.length.toString(16)}\r\n${content}\r\n`,
      ],
    ],
  ] as const;
  const ends = [
    ['ends', false],
    ['is reset', true],
  ] as const;
  test.each(
    framings.flatMap(([name, framed]) =>
      ends.map(([end, reset]) => ({ name, framed, end, reset })),
    ),
  )('over HTTP/1.1 with $name, if the connection $end', async ({ framed, reset }) => {
    const over = requestsOver();
    for (const [method, path, type, content] of UPLOADS) {
      const [framing = '', bytes = ''] = framed(content);
      const { hostname: host, port } = new URL(urlOf(0));
      const socket = connect({ host, port: Number(port) }).on('error', () => {});
      await once(socket, 'connect');
      const lines = [framing, ...(type === '' ? [] : [`Content-Type: ${type}`])];
      socket.write(`${head(method, path, lines)}${bytes}`);
      await sleep(5); // the server has begun to read
      if (reset) socket.resetAndDestroy();
      else socket.resume().end();
      if (!socket.closed) await closing(socket);
    }
    await until(() => requestsOver() >= over + UPLOADS.length);
    await expectUnchanged();
  });

  test.each([
    ['the stream is reset', (stream: number) => frame(3, 0, stream, Buffer.from([0, 0, 0, 8]))],
    ['the stream ends before its Content-Length', (stream: number) => frame(0, 1, stream, NONE)],
    ['the connection is over', () => frame(7, 0, 0, Buffer.alloc(8))],
    ['the connection ends', () => NONE],
  ])('over HTTP/2, if %s', async (what, end) => {
    const over = requestsOver();
    for (const [method, path, type, content] of UPLOADS) {
      const { hostname: host, port } = new URL(urlOf(1));
      const fields = [
        [':method', method],
        [':path', `/dav/${path}`],
        [':scheme', 'http'],
        [':authority', 'a'],
        [me.credentials[0].toLowerCase(), me.credentials[1]],
        ...(type === '' ? [] : [['content-type', type] as const]),
        ...(what.includes('Length') ? [['content-length', `${content.length + 1}`] as const] : []),
      ] as const;
      const headers = headersFrame(1, fields, { endStream: false });
      const begun = Buffer.concat([OPENING, headers, frame(0, 0, 1, Buffer.from(content))]);
      // Without a pause the request ends before the server begins to read; after 5 ms the server is
      // reading.
      for (const pause of [undefined, 0, 5]) {
        const socket = connect({ host, port: Number(port) }).on('error', () => {});
        if (pause === undefined) socket.end(Buffer.concat([begun, end(1)]));
        else {
          socket.write(begun);
          await once(socket, 'data');
          await sleep(pause);
          socket.end(end(1));
        }
        await closing(socket.resume());
      }
    }
    await until(() => requestsOver() >= over + UPLOADS.length);
    await expectUnchanged();
  });
});

describe('content with a wrong length is refused', () => {
  test.each([
    ['more content than the Content-Length', '2'],
    ['content with a Content-Length of 0', '0'],
    ['an invalid length', 'x'],
    ['a negative length', '-1'],
    ['two lengths in one field', '5, 6'],
    ['a length that is too large for a number', '9'.repeat(30)],
  ])('over HTTP/2: %s (RFC 9113 section 8.1.1)', async (_, length) => {
    for (const [method, path, type, content] of UPLOADS.slice(0, -1)) {
      await withHttp2(async (session) => {
        const fields = { 'content-type': type, 'content-length': length };
        const stream = begin(session, method, path, fields);
        let status: unknown;
        stream.on('response', (headers) => {
          status = headers[':status'];
        });
        const closed = new Promise((resolve) => stream.once('close', resolve));
        stream.end(content);
        await closed;
        // The server resets the stream, with or without an answer of 4xx before the reset.
        expect([400, 413, undefined]).toContain(status);
        expect(stream.rstCode === 0 ? status : 'error').toBeDefined();
      });
    }
    await expectUnchanged();
  });

  test.each([
    ['no hexadecimal number', 'x\r\nother\r\n0\r\n\r\n'],
    ['below nothing', '-5\r\nother\r\n0\r\n\r\n'],
    ['past all numbers', `${'f'.repeat(17)}\r\nother\r\n0\r\n\r\n`],
    ['too short', '3\r\nother\r\n0\r\n\r\n'],
    ['without CR', '5\nother\n0\n\n'],
    ['with a space before it', ' 5\r\nother\r\n0\r\n\r\n'],
  ])('over HTTP/1.1: a chunk whose length is %s (RFC 9112 section 7.1)', async (_, chunks) => {
    for (const [method, path, type] of UPLOADS.slice(0, -1)) {
      const lines = ['Transfer-Encoding: chunked', `Content-Type: ${type}`];
      const received = await rawHttp(urlOf(0), head(method, path, lines) + chunks);
      expect(statusOf(received)).toBe(400);
    }
    await expectUnchanged();
  });

  test('over HTTP/1.1: two lengths, and a length beside chunks (RFC 9112 section 6.3)', async () => {
    const lies = [
      ['Content-Length: 5', 'Content-Length: 6'],
      ['Content-Length: 5, 6'],
      ['Content-Length: +5'],
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked, identity'],
    ];
    const unknown = ['Transfer-Encoding: gzip, chunked']; // section 6.1
    for (const lines of [...lies, unknown]) {
      const received = await rawHttp(
        urlOf(0),
        `${head('PUT', 'doc', [...lines, 'Connection: close'])}5\r\nother\r\n0\r\n\r\n`,
      );
      expect([lines, statusOf(received)]).toEqual([lines, lines === unknown ? 501 : 400]);
      expect(received.match(/^HTTP/gm)).toHaveLength(1);
    }
    await expectUnchanged();
  });
});

test('content that comes slowly is answered with 408 over both versions, while other clients are served (RFC 9110 section 15.5.9)', async () => {
  const { hostname: host, port } = new URL(urlOf(0));
  const slow = UPLOADS.slice(0, 4).map(async ([method, path, type]) => {
    const socket = connect({ host, port: Number(port) }).on('error', () => {});
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    socket.write(head(method, path, ['Content-Length: 100000', `Content-Type: ${type}`]));
    const dripping = setInterval(() => socket.write('{'), 50);
    await closing(socket);
    clearInterval(dripping);
    return statusOf(received);
  });
  const over2 = withHttp2(async (session) => {
    const streams = UPLOADS.slice(0, 4).map(([method, path, type]) =>
      begin(session, method, path, { 'content-type': type }),
    );
    const dripping = setInterval(() => {
      for (const stream of streams) if (stream.writable) stream.write('{');
    }, 50);
    const statuses = await Promise.all(streams.map(answerOn));
    clearInterval(dripping);
    return statuses;
  });
  let served = 0;
  const [first, second] = await Promise.all([
    Promise.all(slow),
    over2,
    until(async () => {
      served += (await me.ask(served, 'GET', 'doc')).status === 200 ? 1 : 0;
      return served >= 10;
    }),
  ]);
  expect([...first, ...second]).toEqual(Array<number>(8).fill(408));
  await expectUnchanged();
});

describe('with Expect: 100-continue (RFC 9110 section 10.1.1)', () => {
  const refusals: readonly (readonly [
    status: number,
    method: string,
    path: string,
    ...lines: string[],
  ])[] = [
    [400, 'PUT', '%2e%2e/doc'],
    [400, 'PUT', 'doc', 'Content-Range: bytes 0-1/2'],
    [400, 'PUT', 'doc', 'If: ('],
    [412, 'PUT', 'doc', 'If-Match: x'],
    [404, 'POST', 'nothing/'],
    [404, 'PROPPATCH', 'nothing'],
    [405, 'PUT', 'col'],
    [405, 'PATCH', 'doc'],
    [405, 'MKCOL', 'col'],
    [409, 'PUT', 'nothing/doc'],
    [412, 'PUT', 'doc', 'If-None-Match: *'],
    [412, 'PUT', 'doc', 'If-Match: "other"'],
    [412, 'PUT', 'doc', 'If: (<urn:uuid:00000000-0000-4000-8000-000000000000>)'],
    [415, 'PUT', 'doc', 'Content-Encoding: gzip'],
    [415, 'PATCH', 'json', 'Content-Type: text/plain'],
    [415, 'QUERY', 'json', 'Content-Type: text/plain'],
    [423, 'PUT', 'locked'],
    [501, 'BREW', 'doc'],
  ];
  const long = `Content-Length: ${MAX_BYTES + 1}`;
  const EXPECT = ['Expect: 100-continue', 'Content-Length: 5'];

  test.each(refusals)('the server answers %i before any content of %s %s', async (...asked) => {
    const [status, method, path, ...lines] = asked;
    const received = await rawHttp(urlOf(0), head(method, path, [...EXPECT, ...lines]));
    expect(received.match(/^HTTP\/1\.1 \d+/gm)).toEqual([`HTTP/1.1 ${status}`]);
  });

  test('content over the limit is refused with 413, and a request without credentials with 401, before any content', async () => {
    for (const method of ['PUT', 'PATCH', 'PROPPATCH', 'LOCK', 'QUERY']) {
      const lines = ['Expect: 100-continue', long, 'Content-Type: application/jsonpath'];
      const merge = lines.with(2, 'Content-Type: application/merge-patch+json');
      const received = await rawHttp(
        urlOf(0),
        head(method, 'json', method === 'PATCH' ? merge : lines),
      );
      expect([method, ...(received.match(/^HTTP\/1\.1 \d+/gm) ?? [])]).toEqual([
        method,
        'HTTP/1.1 413',
      ]);
    }
    const nobody = head('PUT', 'doc', EXPECT).replace(/^X-API-Key: .*\r\n/m, '');
    const received = await rawHttp(urlOf(0), nobody);
    expect(received.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 401']);
    await expectUnchanged();
  });

  test('over HTTP/2 the server sends no 100 before a refusal, and sends 100 before it reads content', () =>
    withHttp2(async (session) => {
      const ask = async (method: string, path: string, fields = {}) => {
        const all = { expect: '100-continue', 'content-length': '5', ...fields };
        const stream = begin(session, method, path, all);
        let continues = 0;
        stream.on('continue', () => {
          continues += 1;
          stream.end('other');
        });
        return [await answerOn(stream), continues];
      };
      for (const [status, method, path, ...lines] of refusals) {
        const fields = Object.fromEntries(
          lines.map((line) => [
            line.slice(0, line.indexOf(':')),
            line.slice(line.indexOf(':') + 2),
          ]),
        );
        expect([method, path, ...(await ask(method, path, fields))]).toEqual([
          method,
          path,
          status,
          0,
        ]);
      }
      expect(await ask('PUT', 'doc', { 'content-length': `${MAX_BYTES + 1}` })).toEqual([413, 0]);
      await expectUnchanged();
      expect(await ask('PUT', 'doc')).toEqual([204, 1]);
      expect((await me.ask(0, 'GET', 'doc')).text).toBe('other');
    }));

  test('the server reads octets after a refusal as content, never as another request (RFC 9112 section 9.3)', async () => {
    const smuggled = head('DELETE', 'doc');
    const lines = ['Expect: 100-continue', `Content-Length: ${smuggled.length}`];
    const received = await rawHttp(urlOf(0), `${head('PUT', 'locked', lines)}${smuggled}`);
    expect(received.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 423']);
    await expectUnchanged();
  });
});

test('both servers still run, and no logged error is a defect', () => assertAlive(servers));

test('while no file can be opened (EMFILE), an open connection gets 503 with Retry-After, and then normal answers again', async () => {
  const run = promisify(execFile);
  const pid = String(servers.pair.resources[0]?.pid);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const put = (body: string) =>
    new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
      const headers = Object.fromEntries([me.credentials]);
      request(`${urlOf(0)}/dav/doc`, { method: 'PUT', agent, headers }, (answer) => {
        answer.resume().on('end', () => {
          resolve([answer.statusCode, answer.headers['retry-after']]);
        });
      })
        .on('error', reject)
        .end(body);
    });
  try {
    expect(await put('content')).toEqual([204, undefined]);
    await run('prlimit', ['--pid', pid, '--nofile=3:']);
    expect(await put('other'.repeat(200_000))).toEqual([503, '1']);
    await run('prlimit', ['--pid', pid, '--nofile=4096:']);
    expect(await put('content')).toEqual([204, undefined]);
  } finally {
    agent.destroy();
  }
  await assertSound(servers, me.tree);
});
