import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clientOf } from '../spaces.fixture.ts';
import { type Application, startApplication, startGateway } from './gateway.fixture.ts';

const GONE = 'http://127.0.0.1:9/';

let breakOff = () => {};
let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let as: ReturnType<typeof clientOf>;
beforeAll(async () => {
  application = await startApplication((request, response) => {
    if (request.url !== '/breaks-off') {
      response.end();
      return;
    }
    response.writeHead(200, { 'Content-Length': 10 }).write('half');
    breakOff = () => response.destroy();
  });
  const { url } = application;
  gateway = await startGateway({
    there: { upstream: { url } },
    two: { upstream: { urls: [GONE, url] } },
    gone: { upstream: { url: GONE } },
  });
  as = clientOf(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});

/** The lines of the log with these members. */
async function logged(members: object): Promise<Record<string, unknown>[]> {
  for (;;) {
    const told = gateway.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const found = told.filter((line) =>
      Object.entries(members).every(([name, value]) => line[name] === value),
    );
    if (found.length > 0) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a line names the application that was asked, and none where nobody was', async () => {
  await as('GET', '/there/x');
  const [line] = await logged({ path: '/there/x' });
  expect(line).toMatchObject({ status: 200, host: `127.0.0.1:${application.port}` });
  await as('TRACE', '/there/y');
  const [refused] = await logged({ path: '/there/y' });
  expect([refused?.['status'], refused?.['host']]).toEqual([405, undefined]);
});

test('what failed at one place and went well at another has a line, with the id of the request', async () => {
  for (const path of ['/two/a', '/two/b']) {
    expect(await as('GET', path)).toMatchObject({ status: 200 });
  }
  const [failed] = await logged({ event: 'upstream.failed' });
  expect(failed).toMatchObject({
    level: 'warn',
    host: '127.0.0.1:9',
    reason: expect.stringContaining('ECONNREFUSED'),
  });
  const [request] = await logged({ event: 'request', id: failed?.['id'] });
  expect(request).toMatchObject({ status: 200, host: `127.0.0.1:${application.port}` });
});

test('where none answers the line says why, and the client hears nothing of it', async () => {
  const { text } = await as('GET', '/gone/x');
  expect(text).not.toContain('127.0.0.1');
  const [line] = await logged({ path: '/gone/x' });
  expect(line).toMatchObject({
    status: 502,
    host: '127.0.0.1:9',
    reason: expect.stringMatching(/^The application cannot be reached, .* connect ECONNREFUSED/),
  });
});

test('of an answer that breaks off the line says who did', async () => {
  const token = gateway.token('there:read');
  const request = http.get({
    port: gateway.listening.port,
    path: '/there/breaks-off',
    headers: { Authorization: `Bearer ${token}` },
  });
  request.on('error', () => {});
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.on('error', () => {}).resume();
  breakOff();
  const [line] = await logged({ path: '/there/breaks-off' });
  expect(line).toMatchObject({ cut: true, reason: 'The destination broke off its answer.' });
});
