import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';

/** Members of the log line about an answer that the application broke off, as without a cache (gateway/log.test.ts). */
const BROKEN = { cut: true, reason: 'The destination broke off its answer.' };
/** Octets: an answer of at most this length is fetched to its end after all its clients left. */
const FINISHED = 1024 * 1024;

let answer: RequestListener;
let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let writable = true;
const told: string[] = [];
const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', note);
  application = await startApplication((request, response) => {
    told.push(`${request.method} ${request.url}`);
    return answer(request, response);
  });
  const { url } = application;
  const cache = { purge: { networks: ['127.0.0.0/8'] } };
  gateway = await startGateway(
    {
      open: { upstream: { url, timeout: 3 }, schemes: [], scopes: {}, cache },
      hasty: { upstream: { url, timeout: 1 }, schemes: [], scopes: {}, cache },
    },
    { trustedProxies: [] },
    (stores) => ({
      ...stores,
      async ping() {
        if (!writable) throw new StoreUnavailable('no');
        return stores.ping();
      },
    }),
  );
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
beforeEach(() => {
  told.length = 0;
  writable = true;
});

const get = (path: string, headers = {}) => gateway.ask('GET', path, { headers });

function fresh(response: http.ServerResponse, more: http.OutgoingHttpHeaders = {}): void {
  const date = new Date(gateway.clock.now()).toUTCString();
  response.writeHead(200, { Date: date, 'Cache-Control': 'max-age=60', ...more });
}

/** Reads the whole content. Rejects if it breaks off. */
async function whole(path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { port } = gateway.listening;
  const request = http.get({ port, path, agent: false }, (response) => {
    buffer(response).then((content) => resolve(content.toString()), reject);
  });
  request.on('error', reject);
  return promise;
}

/** Returns all octets that an HTTP/1.0 client receives, and whether the connection was reset. */
async function raw(text: string): Promise<{ readonly got: string; readonly reset: boolean }> {
  const socket = net.connect(gateway.listening.port, '127.0.0.1');
  let reset = false;
  socket.on('error', () => (reset = true));
  socket.write(text);
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await new Promise((resolve) => void socket.once('close', resolve));
  return { got: Buffer.concat(pieces).toString('latin1'), reset };
}

/** Waits for the first line of the log about this path. */
async function lineOf(path: string): Promise<Record<string, unknown>> {
  for (;;) {
    const lines = gateway.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const found = lines.find((line) => line['path'] === path);
    if (found) return found;
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

const FRAMED: [string, http.OutgoingHttpHeaders][] = [
  ['of known length', { 'Content-Length': '8' }],
  ['in chunks', {}],
];

test.each(FRAMED)(
  'an answer %s that breaks off is incomplete for every client, and is not stored',
  async (_name, more) => {
    const path = `/open/broken-${Object.keys(more).length}`;
    answer = (_request, response) => {
      fresh(response, more);
      response.write('half');
      setImmediate(() => response.destroy());
    };
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => whole(path)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(await lineOf(path)).toMatchObject({ status: 200, ...BROKEN });
    answer = (_request, response) => {
      fresh(response);
      response.end('whole');
    };
    expect((await get(path)).text).toBe('whole');
  },
);

test.each(FRAMED)(
  'the log line of an answer %s that stops early says which side broke it off',
  async (_name, more) => {
    answer = (_request, response) => {
      fresh(response, more);
      response.write('half');
    };
    const path = `/hasty/stops-${Object.keys(more).length}`;
    await expect(whole(path)).rejects.toThrow();
    expect(await lineOf(path)).toMatchObject({ status: 200, ...BROKEN });
  },
);

test.each(FRAMED)(
  'the log does not blame the application if the client of an answer %s disconnects',
  async (_name, more) => {
    const abandoned = Promise.withResolvers<void>();
    answer = (_request, response) => {
      response.on('close', abandoned.resolve);
      fresh(response, {
        ...more,
        ...('Content-Length' in more && { 'Content-Length': FINISHED + 8 }),
      });
      response.write('half');
    };
    const path = `/open/leaves-${Object.keys(more).length}`;
    const before = gateway.lines.length;
    const { port } = gateway.listening;
    const request = http.get({ port, path, agent: false });
    request.on('error', () => {});
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.on('error', () => {});
    await once(response, 'data');
    response.socket.resetAndDestroy();
    expect(await lineOf(path)).toMatchObject({ status: 200, cut: true });
    await abandoned.promise;
    await new Promise((resolve) => void setImmediate(resolve));
    expect(gateway.lines.slice(before).filter((line) => line.includes(BROKEN.reason))).toEqual([]);
  },
);

test('an HTTP/1.0 answer without a length that is aborted ends with a reset (RFC 9112 section 8)', async () => {
  answer = (_request, response) => {
    fresh(response);
    response.write('half');
    setTimeout(() => response.destroy(), 200);
  };
  const { got, reset } = await raw('GET /open/old HTTP/1.0\r\nHost: rs.example\r\n\r\n');
  expect(got).not.toContain('Transfer-Encoding');
  expect(reset).toBe(true);
});

test.each(['3', '8'])(
  'an answer whose length %s differs from its content is an error',
  async (length) => {
    answer = (request) => {
      request.socket.end(
        `HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nDate: ${new Date(gateway.clock.now()).toUTCString()}\r\nContent-Length: ${length}\r\n\r\nabcde`,
      );
    };
    const path = `/open/length-${length}`;
    const first = await whole(path).catch(() => 'broken');
    expect(first).toBe(length === '8' ? 'broken' : 'abc');
    answer = (_request, response) => {
      fresh(response);
      response.end('whole');
    };
    expect((await get(path)).text).toBe(length === '8' ? 'whole' : first);
  },
);

test('an answer delimited by the end of the connection is complete, and is stored (RFC 9112 section 6.3)', async () => {
  answer = (request) => {
    request.socket.end(
      `HTTP/1.0 200 OK\r\nCache-Control: max-age=60\r\nDate: ${new Date(gateway.clock.now()).toUTCString()}\r\n\r\nuntil the end`,
    );
  };
  expect((await get('/open/closed')).text).toBe('until the end');
  expect((await get('/open/closed')).text).toBe('until the end');
  expect(told).toEqual(['GET /closed']);
});

test('an answer to HEAD is not stored, but a stored GET answers HEAD (RFC 9111 section 4)', async () => {
  answer = (_request, response) => {
    fresh(response, { 'Content-Length': '5' });
    response.end('whole');
  };
  const heads = await Promise.all(
    Array.from({ length: 5 }, () => gateway.ask('HEAD', '/open/head')),
  );
  expect(new Set(heads.map(({ headers }) => headers['content-length']))).toEqual(new Set(['5']));
  expect((await get('/open/head')).text).toBe('whole');
  told.length = 0;
  expect(await gateway.ask('HEAD', '/open/head')).toMatchObject({
    status: 200,
    text: '',
    headers: { 'content-length': '5' },
  });
  expect(told).toEqual([]);
});

test('equal QUERY requests share one answer, even if the first client leaves', async () => {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const late = async (...[request, response]: Parameters<RequestListener>) => {
    const content = await buffer(request);
    asked.resolve();
    await go.promise;
    fresh(response);
    response.end(`of ${content.toString()}`);
  };
  answer = (...exchange) => void late(...exchange);
  const call = { headers: { 'Content-Type': 'text/plain' }, body: 'abc' };
  const { port } = gateway.listening;
  const leader = http.request({
    port,
    method: 'QUERY',
    path: '/open/query',
    headers: call.headers,
  });
  leader.on('error', () => {});
  leader.end('abc');
  await asked.promise;
  const others = [1, 2, 3].map(() => gateway.ask('QUERY', '/open/query', call));
  leader.socket?.resetAndDestroy();
  await new Promise((resolve) => void setTimeout(resolve, 100));
  go.resolve();
  for (const other of others) expect((await other).text).toBe('of abc');
  expect(told).toEqual(['QUERY /query']);
});

test('a PUT invalidates stored answers even if its client leaves', async () => {
  let count = 0;
  const arrived = Promise.withResolvers<void>();
  answer = (request, response) => {
    if (request.method === 'PUT') arrived.resolve();
    else {
      fresh(response);
      response.end(`answer ${(count += 1)}`);
    }
  };
  expect((await get('/open/left')).text).toBe('answer 1');
  const { port } = gateway.listening;
  const leaving = http.request({ port, method: 'PUT', path: '/open/left' });
  leaving.on('error', () => {});
  leaving.end('x');
  await arrived.promise;
  leaving.destroy();
  const list = () => gateway.stores.invalidations.list('target', 100);
  const isVoid = async () => (await list()).some(({ value }) => value === '/open/left');
  while (!(await isVoid())) await new Promise((resolve) => void setImmediate(resolve));
  expect((await get('/open/left')).text).toBe('answer 2');
});

test('a PUT invalidates stored answers even if the application never answers it', async () => {
  let count = 0;
  answer = (request, response) => {
    if (request.method === 'PUT') response.destroy();
    else {
      fresh(response);
      response.end(`answer ${(count += 1)}`);
    }
  };
  expect((await get('/open/dead')).text).toBe('answer 1');
  expect(await gateway.ask('PUT', '/open/dead', { body: 'x' })).toMatchObject({ status: 502 });
  expect((await get('/open/dead')).text).toBe('answer 2');
});

test('an unsafe request is 503 if stored answers cannot be invalidated', async () => {
  answer = (_request, response) => {
    fresh(response);
    response.end('answer');
  };
  gateway.clock.advance(2);
  writable = false;
  expect(await gateway.ask('PUT', '/open/b', { body: 'x' })).toMatchObject({ status: 503 });
  expect(told).toEqual([]);
  expect((await get('/open/b')).text).toBe('answer');
});

test('a stalled client delays no other client', async () => {
  const octets = 6 * 1024 * 1024;
  answer = (_request, response) => {
    fresh(response, { 'Content-Length': String(octets) });
    response.end(Buffer.alloc(octets, 'x'));
  };
  const { port } = gateway.listening;
  const stalling = http.get({ port, path: '/open/long' });
  stalling.on('error', () => {});
  const [response] = (await once(stalling, 'response')) as [http.IncomingMessage];
  response.pause();
  const others = await Promise.all([get('/open/long'), get('/open/long')]);
  expect(others.map(({ text }) => text.length)).toEqual([octets, octets]);
  expect(told).toEqual(['GET /long']);
  stalling.destroy();
});

test('a slow client gets every octet of a long chunked answer, and a stalled client delays no other', async () => {
  const octets = 20 * 1024 * 1024; // more than a quarter of the cache
  answer = (_request, response) => {
    fresh(response);
    response.end(Buffer.alloc(octets, 'x'));
  };
  const { port } = gateway.listening;
  const ask = async () => {
    const request = http.get({ port, path: '/open/chunks', agent: false });
    request.on('error', () => {});
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return response;
  };
  const stalling = await ask();
  stalling.pause();
  const [slow, fast] = await Promise.all([ask(), whole('/open/chunks')]);
  expect(fast).toHaveLength(octets);
  let read = 0;
  for await (const piece of slow) {
    read += (piece as Buffer).length;
    await new Promise((resolve) => void setImmediate(resolve));
  }
  expect(read).toBe(octets);
  expect(told).toEqual(Array(3).fill('GET /chunks'));
  stalling.destroy();
});
