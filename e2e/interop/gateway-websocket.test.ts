import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { WebSocket as WsClient } from 'ws';
import { startApplication } from '../parts/application.ts';
import { launchBrowser } from '../parts/browser.ts';
import { type Elsewhere, startElsewhere } from './elsewhere-page.ts';
import { basic, type GatewaySite, startGatewaySite } from './gateway/gateway-site.ts';
import { ALICE } from './site.ts';

/** WebSockets (RFC 6455, RFC 8441) through the gateway, by clients and to an application that others wrote. */
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

describe('ws', () => {
  const open = (headers: Record<string, string>) =>
    new WsClient(`${site.origin.replace('http', 'ws')}/app/chat?room=1`, { headers });

  test('messages of every kind, compressed, and the end of it', async () => {
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

  test('nobody gets in without credentials', async () => {
    const socket = open({});
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('401');
  });

  test('an ended person hears no more', async () => {
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
  ['in clear text', () => site.pair.resource, ''], // it does not tell of a page with a password

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

  test('the page comes by the version that is meant', async () => {
    expect(await page.textContent('h1')).toBe('Sockets');
    const entry: unknown = await page.evaluate(
      "performance.getEntriesByType('navigation').map((one) => one.nextHopProtocol)",
    );
    expect(entry).toEqual([version]);
  });

  test('a script of the application talks to it', async () => {
    const heard = await page.evaluate(echoed, ['chat?room=1', LONG] as const);
    if (!Array.isArray(heard)) throw new Error(heard);
    expect(JSON.parse(heard[0] ?? '')).toMatchObject(TOLD);
    expect(heard[1]).toBe(LONG);
  });

  test('a script of another origin gets in where that is listed, and nowhere else', async () => {
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

test('RFC 6455 section 7.4.1: a server that ends says so, and waits for nobody', async () => {
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

/** In a page: the first message, and what comes back of another; or that there is none. */
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
