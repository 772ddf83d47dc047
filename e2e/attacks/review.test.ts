import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { frame, headersFrame, OPENING } from '#shared/server/wire/http2-frames.fixture.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { UNLIMITED } from './attacked-pair.fixture.ts';

const PASSWORD = 'open sesame: 1=2';
const CREDENTIALS = `Basic ${btoa(`alice:${PASSWORD}`)}`;

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n';
const EARLY = 'HTTP/1.1 103 Early Hints\r\n';
const TWICE = 'ETag: "a"\r\nETag: "b"\r\n';

/** The answers of a hostile origin, by path. */
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  '/fields': [`${NO_CONTENT}${TWICE}\r\n`],
  '/content': [`HTTP/1.1 200 OK\r\n${TWICE}Content-Length: 2\r\n\r\nhi`],
  '/interim': [`${EARLY}${TWICE}\r\n${NO_CONTENT}\r\n`],
  '/trailers': [
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n${TWICE}\r\n`,
  ],
  '/slowly': [...Array<string>(12).fill(`${EARLY}X: a\r\n\r\n`), `${NO_CONTENT}\r\n`],
};

/** Milliseconds between two pieces of an answer. */
const PAUSE = 5;

/** Requests that could crash the process or admit the wrong client. */
describe('one client cannot crash the server:', () => {
  const parts = new AsyncDisposableStack();
  const origin = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      void say(ANSWERS[data.toString().split(' ')[1] ?? ''] ?? []);
    });
    async function say(pieces: readonly string[]): Promise<void> {
      for (const piece of pieces) {
        socket.write(piece);
        if (pieces.length > 1) await sleep(PAUSE);
      }
      socket.end();
    }
  });
  let pair: Pair;
  let destination: string;

  beforeAll(async () => {
    await once(origin.listen(0, '127.0.0.1'), 'listening');
    parts.defer(() => void origin.close());
    destination = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const settings = {
      limits: { credentials: UNLIMITED, signIn: UNLIMITED },
      proxy: { destinations: [destination] },
    };
    pair = parts.use(await startPair({ settings }));
    await pair.addPerson('alice', PASSWORD);
  });
  afterAll(() => parts.disposeAsync());

  async function expectAlive(): Promise<void> {
    expect((await fetch(`${pair.resource}/health/ready`)).status).toBe(200);
    expect(pair.resources[0]?.log).not.toContain('"level":"error"');
  }

  const authorized = { 'proxy-authorization': CREDENTIALS };
  const proxyPort = () => Number(new URL(pair.proxies[0] ?? '').port);

  describe('by cancelled streams (RFC 9113 section 5.4.2)', () => {
    /** Sends a request and resets its stream, in the same packet or `after` milliseconds later. */
    async function cancel(
      method: string,
      path: string,
      fields: Readonly<Record<string, string>>,
      after?: number,
    ): Promise<void> {
      const pseudo = { ':method': method, ':scheme': 'http', ':authority': destination };
      const all = { ...pseudo, ':path': path, ...fields };
      const opening = Buffer.concat([OPENING, headersFrame(1, Object.entries(all))]);
      const reset = frame(3, 0, 1, Buffer.from([0, 0, 0, 8]));
      const socket = connect(proxyPort(), '127.0.0.1').on('error', () => {});
      socket.resume();
      if (after === undefined) {
        socket.write(Buffer.concat([opening, reset]));
      } else {
        socket.write(opening);
        await sleep(after);
        socket.write(reset);
      }
      await sleep(10 * PAUSE);
      socket.destroy();
    }

    test.each(['GET', 'HEAD', 'POST', 'OPTIONS'])(
      'that open and reset %s in one packet',
      async (method) => {
        const expecting = { expect: '100-continue' };
        const unmet = { expect: 'nothing' };
        for (const fields of [{}, expecting, unmet, authorized, { ...authorized, ...expecting }]) {
          await cancel(method, '/fields', fields);
        }
        await expectAlive();
      },
    );

    test('that are reset between interim answers', async () => {
      for (const method of ['GET', 'HEAD']) {
        for (const after of [2, 4, 8, 16]) {
          await cancel(method, '/slowly', authorized, after * PAUSE);
        }
      }
      await expectAlive();
    });
  });

  test.each(['/fields', '/content', '/interim', '/trailers'])(
    'by an origin that repeats a singleton field over HTTP/2: %s (RFC 9110 section 5.3)',
    async (path) => {
      const session = connectHttp2(pair.proxies[0] ?? '').on('error', () => {});
      const pseudo = { ':authority': destination, ':path': path, te: 'trailers' };
      const stream = session.request({ ...pseudo, ...authorized });
      stream.resume();
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
      await once(stream, 'close');
      session.destroy();
      const withContent = path === '/content' || path === '/trailers';
      expect(answer[':status']).toBe(withContent ? 200 : 204);
      await expectAlive();
    },
  );

  test('an imported person with the id "nobody" is not the identity of unknown names', async () => {
    const file = join(pair.data, 'directory.json');
    await pair.cli('directory', 'export', file);
    const directory = JSON.parse(await readFile(file, 'utf8')) as { people: { name: string }[] };
    const alice = directory.people.find(({ name }) => name === 'alice');
    const imported = { ...alice, id: 'nobody', name: 'eve', verifiers: [] };
    await writeFile(file, JSON.stringify({ ...directory, people: [imported] }));
    await pair.cli('directory', 'import', file);
    const statusOf = async (name: string) => {
      const headers = { authorization: `Basic ${btoa(`${name}:${PASSWORD}`)}` };
      return (await fetch(`${pair.resource}/schemes/basic/`, { headers })).status;
    };
    expect(await statusOf('eve')).toBe(200);
    expect(await Promise.all(['nobody', 'somebody', '', '!'].map(statusOf))).toEqual(
      Array(4).fill(401),
    );
  });
});
