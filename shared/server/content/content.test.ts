import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink, stat } from 'node:fs/promises';
import http2 from 'node:http2';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { contentDigest, contentOf } from './content.ts';
import { continueOnRead } from '../message/expect.ts';
import { Budget } from './spool.ts';

/** Matches the path of a removed spool, as the system shows it for an open file. */
const SPOOL = /^(.*\/countersign-[^/]+)\/content \(deleted\)$/;

const MEBIBYTE = 1024 * 1024;
const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');
const bytes = (length: number) => Buffer.alloc(length, 'some content, and again ');

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

let handler: Handler = async (_request, response) => void response.end();
/** A promise for each request, in order: the handler has answered or failed. */
const served: Promise<void>[] = [];
const server = http.createServer();
const serve = (request: IncomingMessage, response: ServerResponse) => {
  const done = handler(request, response);
  done.catch(() => response.destroy());
  served.push(done);
};
server.on('request', serve);
server.on('checkContinue', (request, response) => {
  continueOnRead(request, response, () => {});
  serve(request, response);
});
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
let port = 0;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  served.length = 0;
});
afterAll(async () => {
  agent.destroy();
  server.close();
  server.closeAllConnections();
});

/** Sends the content, announced or in chunks, and returns the answer. */
async function post(content: Buffer, headers: http.OutgoingHttpHeaders = {}): Promise<string> {
  const request = http.request({ port, host: '127.0.0.1', method: 'POST', agent, headers });
  request.end(content);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return String(await buffer(response));
}

async function all(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Returns the file descriptors of spools that this process has open. */
async function openSpools(): Promise<string[]> {
  const descriptors = (await readdir('/proc/self/fd')).map((fd) => `/proc/self/fd/${fd}`);
  const links = await Promise.all(
    descriptors.map(async (path) => [path, await readlink(path).catch(() => '')] as const),
  );
  return links.filter(([, link]) => SPOOL.test(link)).map(([path]) => path);
}

async function untilClosed(): Promise<void> {
  while ((await openSpools()).length > 0) await setTimeout(5);
}

describe('contentDigest', () => {
  test.each([
    ['nothing', 0],
    ['a byte', 1],
    ['one byte less than fits into memory', MEBIBYTE - 1],
    ['all that fits into memory', MEBIBYTE],
    ['one byte more', MEBIBYTE + 1],
    ['some megabytes', 3 * MEBIBYTE + 12_345],
  ])(
    'contentDigest gives the digest of the content, and the handler still gets the content: %s',
    async (_, length) => {
      handler = async (request, response) => {
        const digest = await contentDigest(request, 'sha256');
        response.end(`${digest.toString('hex')} ${sha256(await all(contentOf(request)))}`);
      };
      const content = bytes(length);
      const expected = sha256(content);
      expect(await post(content)).toBe(`${expected} ${expected}`);
      expect(await post(content, { 'Transfer-Encoding': 'chunked' })).toBe(
        `${expected} ${expected}`,
      );
    },
  );

  test.each([0, 5, 2 * MEBIBYTE])(
    'several hashes can be asked for, together and again: %d bytes',
    async (length) => {
      handler = async (request, response) => {
        const hashes = ['md5', 'sha256', 'sha512-256', 'sha256'];
        const digests = await Promise.all(hashes.map((hash) => contentDigest(request, hash)));
        digests.push(await contentDigest(request, 'md5'));
        response.end(digests.map((digest) => digest.toString('hex')).join(' '));
      };
      const content = bytes(length);
      const hashes = ['md5', 'sha256', 'sha512-256', 'sha256', 'md5'];
      const expected = hashes.map((hash) => createHash(hash).update(content).digest('hex'));
      expect(await post(content)).toBe(expected.join(' '));
    },
  );

  test('the digest does not depend on the pieces in which the content arrives', async () => {
    handler = async (request, response) => {
      const digest = await contentDigest(request, 'sha256');
      response.end(`${digest.toString('hex')} ${sha256(await all(contentOf(request)))}`);
    };
    const pieces = fc.array(fc.nat(400_000).map(bytes), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(pieces, async (chunks) => {
        const request = http.request({ port, host: '127.0.0.1', method: 'POST', agent });
        request.flushHeaders();
        for (const chunk of chunks) request.write(chunk);
        request.end();
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        const expected = sha256(Buffer.concat(chunks));
        expect(String(await buffer(response))).toBe(`${expected} ${expected}`);
      }),
      { numRuns: 20 },
    );
  });

  test('two readers of the same content both get all of it', async () => {
    handler = async (request, response) => {
      await contentDigest(request, 'sha256');
      const [one, two] = await Promise.all([all(contentOf(request)), all(contentOf(request))]);
      response.end(`${sha256(one)} ${sha256(two)}`);
    };
    const content = bytes(2 * MEBIBYTE);
    expect(await post(content)).toBe(`${sha256(content)} ${sha256(content)}`);
  });
});

describe('the limit of stored content', () => {
  const refuses: Handler = async (request, response) => {
    await expect(contentDigest(request, 'sha256', { limit: 1000 })).rejects.toThrow(HttpError);
    await expect(contentDigest(request, 'md5', { limit: 1000 })).rejects.toMatchObject({
      status: 413,
    });
    response.end('refused');
  };

  test('content of exactly the limit is accepted', async () => {
    handler = async (request, response) => {
      response.end((await contentDigest(request, 'sha256', { limit: 1000 })).toString('hex'));
    };
    expect(await post(bytes(1000))).toBe(sha256(bytes(1000)));
  });

  test('content of one byte more gets 413, announced or in chunks', async () => {
    handler = refuses;
    expect(await post(bytes(1001))).toBe('refused');
    expect(await post(bytes(1001), { 'Transfer-Encoding': 'chunked' })).toBe('refused');
    expect(await post(bytes(2 * MEBIBYTE), { 'Transfer-Encoding': 'chunked' })).toBe('refused');
    await Promise.all(served);
    expect(await openSpools()).toEqual([]);
  });

  test('content that is announced as too long gets 413 without 100 (RFC 9110 section 10.1.1)', async () => {
    handler = refuses;
    const headers = { Expect: '100-continue', 'Content-Length': 1001 };
    const request = http.request({ port, host: '127.0.0.1', method: 'POST', headers });
    let continued = false;
    request.on('continue', () => (continued = true));
    request.flushHeaders();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(String(await buffer(response))).toBe('refused');
    expect(continued).toBe(false);
    request.destroy();
  });

  test('if all stored contents together exceed the limit, a request gets 503 until another request ends', async () => {
    const budget = new Budget(4 * MEBIBYTE);
    const statuses: number[] = [];
    const [spooled, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    handler = async (request, response) => {
      const hold = request.url === '/held';
      try {
        await contentDigest(request, 'sha256', { budget });
        if (hold) spooled.resolve();
        if (hold) await held.promise;
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        statuses.push(error.status);
        expect(error.fields).toEqual({ 'Retry-After': '5' });
      }
      response.end();
    };
    const send = (path: string) =>
      new Promise<void>((resolve) => {
        const request = http.request({ port, host: '127.0.0.1', method: 'POST', path, agent });
        request.on('response', (response) => void response.resume().once('end', resolve));
        request.end(bytes(1.5 * MEBIBYTE));
      });
    const first = send('/held');
    await spooled.promise;
    await send('/refused');
    expect(statuses).toEqual([503]);
    held.resolve();
    await first;
    await send('/passes');
    expect(statuses).toEqual([503]);
  });

  test('stored contents from one address leave space for other addresses, and short contents use little', async () => {
    const budget = new Budget(4 * MEBIBYTE);
    const end = Promise.withResolvers<void>();
    handler = async (request, response) => {
      const status = await contentDigest(request, 'sha256', { budget }).then(
        () => 200,
        (error: unknown) => (error instanceof HttpError ? error.status : 500),
      );
      response.writeHead(status).flushHeaders();
      await end.promise;
      response.end();
    };
    const send = (length: number, localAddress = '127.0.0.1') =>
      new Promise<number | undefined>((resolve) => {
        const request = http.request({ port, host: '127.0.0.1', method: 'POST', localAddress });
        request.on('response', (response) => resolve(response.resume().statusCode));
        request.end(bytes(length));
      });
    const short = await Promise.all(Array.from({ length: 50 }, () => send(10)));
    expect(new Set(short)).toEqual(new Set([200]));
    const long = [await send(MEBIBYTE / 2), await send(MEBIBYTE / 2)];
    expect(long).toEqual([200, 503]);
    expect(await send(MEBIBYTE / 2, '127.0.0.2')).toBe(200);
    end.resolve();
  });

  test('over HTTP/2 the space is freed with the answer, and if the stream is reset', async () => {
    const budget = new Budget(4 * MEBIBYTE);
    const statuses: (number | undefined)[] = [];
    const h2 = http2.createServer();
    const begun: (() => void)[] = [];
    h2.on('request', (request, response) => {
      request.once('data', () => begun.shift()?.());
      contentDigest(request, 'sha256', { budget }).then(
        () => response.end(),
        (error: unknown) => {
          if (error instanceof HttpError) response.writeHead(error.status);
          response.end();
        },
      );
    });
    h2.listen(0, '127.0.0.1');
    await once(h2, 'listening');
    const session = http2.connect(`http://127.0.0.1:${(h2.address() as AddressInfo).port}`);
    const open = () => session.request({ ':method': 'POST', ':path': '/' });
    for (let turn = 0; turn < 3; turn += 1) {
      const cancelled = open();
      const arrived = new Promise<void>((resolve) => begun.push(resolve));
      cancelled.on('error', () => {});
      cancelled.write(bytes(MEBIBYTE / 2));
      await arrived;
      cancelled.close(http2.constants.NGHTTP2_CANCEL);
      await once(cancelled, 'close');

      const whole = open();
      whole.end(bytes(1.5 * MEBIBYTE));
      const [headers] = (await once(whole, 'response')) as [http2.IncomingHttpHeaders];
      statuses.push(Number(headers[':status']));
      await buffer(whole);
    }
    session.destroy();
    h2.close();
    expect(statuses).toEqual([200, 200, 200]);
  });

  test('the server sends 100 once the handler asks for the digest', async () => {
    handler = async (request, response) => {
      response.end((await contentDigest(request, 'sha256')).toString('hex'));
    };
    const headers = { Expect: '100-continue', 'Content-Length': 4 };
    const request = http.request({ port, host: '127.0.0.1', method: 'POST', headers });
    request.flushHeaders();
    await once(request, 'continue');
    request.end('text');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(String(await buffer(response))).toBe(sha256('text'));
  });
});

describe('spooled content is removed', () => {
  test('the file of spooled content has no name, only its owner can read it, and it is closed with the answer', async () => {
    handler = async (request, response) => {
      await contentDigest(request, 'sha256');
      const spools = await openSpools();
      expect(spools).toHaveLength(1);
      const [path = ''] = spools;
      const [, folder = ''] = SPOOL.exec(await readlink(path)) ?? [];
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
      response.end('read');
    };
    expect(await post(bytes(2 * MEBIBYTE))).toBe('read');
    await untilClosed();
  });

  test('spooled content is removed if the handler does not read it, on a connection that stays open', async () => {
    let most = 0;
    handler = async (request, response) => {
      await contentDigest(request, 'sha256');
      most = Math.max(most, (await openSpools()).length);
      response.writeHead(401).end();
    };
    for (let round = 0; round < 5; round += 1) {
      await post(bytes(2 * MEBIBYTE));
      await untilClosed();
    }
    expect(most).toBe(1);
  });

  test('a client that disconnects in the middle of spooled content causes BadRequest', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    handler = async (request) => {
      await contentDigest(request, 'sha256').catch(resolve);
    };
    const socket = net.connect(port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${3 * MEBIBYTE}\r\n\r\n`);
    socket.write(bytes(2 * MEBIBYTE), () => socket.destroy());
    expect(await promise).toBeInstanceOf(BadRequest);
    await untilClosed();
  });

  test('a client that disconnects before the answer causes BadRequest for a handler that still reads', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    handler = async (request) => {
      await contentDigest(request, 'sha256');
      expect(await openSpools()).toHaveLength(1);
      socket.destroy();
      await once(request.socket, 'close');
      await all(contentOf(request)).catch(resolve);
    };
    const socket = net.connect(port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * MEBIBYTE}\r\n\r\n`);
    socket.write(bytes(2 * MEBIBYTE));
    expect(await promise).toBeInstanceOf(BadRequest);
    await untilClosed();
  });
});

describe('contentOf without a digest', () => {
  test('content without a digest is read directly from the connection', async () => {
    handler = async (request, response) => {
      response.end(sha256(await all(contentOf(request))));
      expect(await openSpools()).toEqual([]);
    };
    expect(await post(bytes(2 * MEBIBYTE))).toBe(sha256(bytes(2 * MEBIBYTE)));
    await Promise.all(served);
  });

  test('a reader that stops early leaves the connection usable', async () => {
    handler = async (request, response) => {
      for await (const chunk of contentOf(request)) {
        if (chunk.length > 0) break;
      }
      response.end('stopped');
    };
    expect(await post(bytes(2 * MEBIBYTE))).toBe('stopped');
    expect(await post(bytes(10))).toBe('stopped');
  });

  test('a client that disconnects causes BadRequest', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    handler = async (request) => {
      await all(contentOf(request)).catch(resolve);
    };
    const socket = net.connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf', () =>
      socket.destroy(),
    );
    expect(await promise).toBeInstanceOf(BadRequest);
  });
});
