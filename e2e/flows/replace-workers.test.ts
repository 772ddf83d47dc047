import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { startApplication } from '../parts/application.ts';
import { type RunningProcess, until } from '../parts/process.ts';
import { home, type Home, workersOf } from './home.ts';

/** SIGHUP replaces two workers of each server under load (`shared/start/servers.js`). */
const parts = new AsyncDisposableStack();
let place: Home;
let pair: RunningProcess;
beforeAll(async () => {
  const { url } = await startApplication(parts, 'ws');
  place = parts.use(
    await home((resource) => ({
      spaces: [
        {
          url: `${resource}/app/`,
          realm: 'app',
          schemes: [],
          serves: 'upstream',
          upstream: { url },
        },
      ],
    })),
  );
  pair = parts.use(await place.start({}, '--workers', '2'));
});
afterAll(() => parts.disposeAsync());

const REQUESTS = 10_000;

/** Repeats requests on kept connections until `done`. Counts the answers by status. */
async function overHttp1(url: string, done: () => boolean, count: (status: number) => void) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!done()) {
    const [answer] = (await once(request(url, { agent }).end(), 'response')) as [IncomingMessage];
    await text(answer);
    count(answer.statusCode ?? 0);
  }
  agent.destroy();
}

/** A request after GOAWAY was not processed, and may be repeated (RFC 9113 sections 6.8 and 8.7). */
const isRefused = (error: Error) => error.message.includes('NGHTTP2_REFUSED_STREAM');

/**
 * Repeats requests over clear-text HTTP/2. When the server announces a connection's end, opens the next.
 */
async function overHttp2(url: string, done: () => boolean, count: (status: number) => void) {
  const { origin, pathname } = new URL(url);
  while (!done()) {
    const session = connect(origin);
    const going = new AbortController();
    session.on('goaway', () => going.abort());
    while (!done() && !going.signal.aborted && !session.closed) {
      const stream = session.request({ ':path': pathname });
      const answer = once(stream, 'response').catch((error: Error) => {
        if (!isRefused(error)) throw error;
      });
      const [headers] = ((await answer) ?? []) as Record<string, unknown>[];
      if (headers === undefined) break;
      await text(stream);
      count(Number(headers[':status']));
    }
    session.close();
  }
}

test('SIGHUP loses none of 10,000 requests under load, and a WebSocket learns that its server ends', async () => {
  const before = [
    ...(await workersOf(pair, 'authz-server')),
    ...(await workersOf(pair, 'resource-server')),
  ];
  const socket = new WebSocket(`${place.resource.replace('http', 'ws')}/app/`);
  await once(socket, 'message');
  const closed = once(socket, 'close');
  const statuses = new Map<number, number>();
  let answered = 0;
  const count = (status: number) => {
    answered += 1;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const replaced = () => (pair.output.match(/"event":"workers\.replaced"/g)?.length ?? 0) >= 2;
  const done = () => answered >= REQUESTS && replaced();
  const urls = [place.resource, place.issuer].map((origin) => `${origin}/health/live`);
  const clients = [
    ...urls.flatMap((url) => [1, 2, 3, 4].map(() => overHttp1(url, done, count))),
    ...[1, 2].map(() => overHttp2(`${place.resource}/health/live`, done, count)),
  ];
  await until(async () => answered > 500);
  pair.signal('SIGHUP');
  await Promise.all(clients);
  expect(answered).toBeGreaterThanOrEqual(REQUESTS);
  expect([...statuses.keys()]).toEqual([200]);
  expect((await closed)[0]).toBe(1001);
  const after = [
    ...(await workersOf(pair, 'authz-server')),
    ...(await workersOf(pair, 'resource-server')),
  ];
  expect(after).toHaveLength(4);
  expect(new Set(after).intersection(new Set(before))).toEqual(new Set());
});

test('a single worker is replaced, too', async () => {
  await using alone = await home();
  await using single = await alone.start({}, '--workers', '1');
  const [before] = await workersOf(single, 'authz-server');
  single.signal('SIGHUP');
  await until(async () => (single.output.match(/"event":"workers\.replaced"/g) ?? []).length === 2);
  expect((await fetch(`${alone.issuer}/health/ready`)).status).toBe(200);
  const after = await workersOf(single, 'authz-server');
  expect(after).toHaveLength(1);
  expect(after).not.toContain(before);
});

test('an invalid configuration changes nothing, and the new workers use it once it is valid', async () => {
  const { file, config } = place;
  await writeFile(file, JSON.stringify({ ...config, tokens: { lifetime: 'long' } }));
  pair.signal('SIGHUP');
  await until(async () => pair.output.includes('"event":"workers.kept"'));
  expect(pair.output).toMatch(/"workers\.kept".*tokens\.lifetime/);
  expect((await fetch(`${place.issuer}/health/ready`)).status).toBe(200);
  const brand = { name: 'Renamed House' };
  await writeFile(file, JSON.stringify({ ...config, brand }));
  pair.signal('SIGHUP');
  await until(async () => (await (await fetch(`${place.issuer}/`)).text()).includes(brand.name));
});
