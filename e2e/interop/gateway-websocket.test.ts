import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { WebSocket as WsClient } from 'ws';
import { startApplication } from '../parts/application.ts';
import { launchBrowser } from '../parts/browser.ts';
import { type Elsewhere, startElsewhere } from './elsewhere-page.ts';
import { basic, type GatewaySite, startGatewaySite } from './gateway/gateway-site.ts';
import { ALICE } from './site.ts';

/**
 * WebSockets (RFC 6455, RFC 8441) through the gateway, with third-party clients and a third-party
 * application.
 */
const parts = new AsyncDisposableStack();
let site: GatewaySite;
let elsewhere: Elsewhere;
let browser: Browser;
beforeAll(async () => {
  elsewhere = parts.use(await startElsewhere());
  browser = parts.use(await launchBrowser());
  const { url } = await startApplication(parts, 'ws');
  const cors = { origins: [elsewhere.crossSite], credentials: true };
  site = parts.use(
    await startGatewaySite({ app: { upstream: { url } }, listed: { upstream: { url }, cors } }),
  );
});
afterAll(() => parts.disposeAsync());

const LONG = 'many words, '.repeat(20_000);
const TOLD = { url: '/base/chat?room=1', stated: true };

describe('the ws client', () => {
  const open = (headers: Record<string, string>) =>
    new WsClient(`${site.origin.replace('http', 'ws')}/app/chat?room=1`, { headers });

  test('exchanges text, binary and compressed messages, and receives the close code', async () => {
    const socket = open(Object.fromEntries([basic()]));
    const [first] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(String(first))).toMatchObject(TOLD);
    expect(JSON.parse(String(first))).not.toHaveProperty('authorization');
    expect(socket.extensions).toContain('permessage-deflate');
    for (const message of ['short', LONG, Buffer.alloc(300_000, 7)]) {
      socket.send(message);
      const [back] = (await once(socket, 'message')) as [Buffer];
      expect(back.equals(Buffer.from(message))).toBe(true);
    }
    socket.close(4000, 'enough');
    expect(await once(socket, 'close')).toEqual([4000, Buffer.from('enough')]);
  });

  test('gets 401 without credentials', async () => {
    const socket = open({});
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('401');
  });

  test('is disconnected when its person is disabled', async () => {
    const person = { name: 'visitor', password: 'a password for one visit' };
    await site.pair.addPerson(person.name, person.password);
    const socket = open(Object.fromEntries([basic(person)]));
    await once(socket, 'message');
    const closed = once(socket, 'close');
    await site.pair.cli('user', 'disable', person.name);
    await closed;
    const again = open(Object.fromEntries([basic(person)]));
    const [error] = (await once(again, 'error')) as [Error];
    expect(error.message).toContain('401');
  });
});

describe.each([
  // in clear text Chromium reports no protocol version for a page with a password
  ['in clear text', () => site.pair.resource, ''],

  ['over TLS, with HTTP/2', () => site.pair.resourceTls, 'h2'],
])('Chromium %s', (_, origin, version) => {
  let page: Page;
  beforeAll(async () => {
    const { name: username, password } = ALICE;
    const credentials = { httpCredentials: { username, password } };
    const context = await browser.newContext({ ...credentials, ignoreHTTPSErrors: true });
    page = await context.newPage();
    await page.goto(`${origin()}/app/`);
  });

  test('gets the page over the expected version of HTTP', async () => {
    expect(await page.textContent('h1')).toBe('Sockets');
    const entry: unknown = await page.evaluate(
      "performance.getEntriesByType('navigation').map((one) => one.nextHopProtocol)",
    );
    expect(entry).toEqual([version]);
  });

  test('connects a script of the application', async () => {
    const heard = await page.evaluate(echoed, ['chat?room=1', LONG] as const);
    if (!Array.isArray(heard)) throw new Error(heard);
    expect(JSON.parse(heard[0] ?? '')).toMatchObject(TOLD);
    expect(heard[1]).toBe(LONG);
  });

  test('connects a script of another origin only where the space lists that origin', async () => {
    const { name: username, password } = ALICE;
    const credentials = { httpCredentials: { username, password } };
    const context = await browser.newContext({ ...credentials, ignoreHTTPSErrors: true });
    const other = await context.newPage();
    // The browser has the password for both spaces.
    for (const space of ['app', 'listed']) await other.goto(`${origin()}/${space}/`);
    await other.goto(elsewhere.crossSite);
    const at = origin().replace('http', 'ws');
    expect(await other.evaluate(echoed, [`${at}/app/chat`, 'a'] as const)).toBe('closed');
    expect(await other.evaluate(echoed, [`${at}/listed/chat`, 'a'] as const)).toHaveLength(2);
  });
});

test('RFC 6455 section 7.4.1: a stopping server closes a WebSocket with 1001, without waiting', async () => {
  const { url } = await startApplication(parts, 'ws');
  await using own = await startGatewaySite({ app: { upstream: { url } } });
  const headers = Object.fromEntries([basic()]);
  const socket = new WsClient(`${own.origin.replace('http', 'ws')}/app/`, { headers });
  await once(socket, 'message');
  const closed = once(socket, 'close');
  const [server] = own.pair.resources;
  await server?.kill('SIGTERM');
  expect(await closed).toEqual([1001, Buffer.alloc(0)]);
  expect(server?.log).toContain('"end":"shutdown"');
});

/** Runs in a page: returns the first message and an echo, or 'closed'. */
async function echoed([url, text]: readonly [string, string]): Promise<string[] | 'closed'> {
  const socket = new WebSocket(url);
  const heard: string[] = [];
  return new Promise((resolve) => {
    socket.addEventListener('close', () => resolve('closed'));
    socket.addEventListener('message', ({ data }) => {
      heard.push(String(data));
      if (heard.length === 1) socket.send(text);
      else resolve(heard);
    });
  });
}
