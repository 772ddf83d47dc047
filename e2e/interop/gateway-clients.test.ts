/** @needs curl */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { Agent, interceptors, request } from 'undici';
import { startApplication } from '../parts/application.ts';
import type { Echo } from '../parts/applications/echo.ts';
import { launchBrowser } from '../parts/browser.ts';
import { freePort } from '../parts/free-port.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { succeed } from './dav/program.ts';
import { type Elsewhere, startElsewhere } from './elsewhere-page.ts';
import { basic, type GatewaySite, startGatewaySite } from './gateway/gateway-site.ts';
import { startNginxFront } from './gateway/nginx-front.ts';
import { makeCertificate } from './proxy-site.ts';
import { curl } from './programs.ts';
import { ALICE } from './site.ts';

/**
 * Third-party clients at an application behind the gateway, with and without nginx in front of the gateway.
 */
const MEGABYTES = 20;
const parts = new AsyncDisposableStack();
let site: GatewaySite;
/** The same site behind nginx, whose origin is the public one. */
let fronted: GatewaySite;
let elsewhere: Elsewhere;
let folder: string;
/** The file with nginx's certificate. */
let ca: string;
beforeAll(async () => {
  ({ path: folder } = parts.use(await temporaryFolder()));
  elsewhere = parts.use(await startElsewhere());
  const { url } = await startApplication(parts, 'express');
  const cors = { origins: [elsewhere.crossSite], credentials: true };
  const gates = {
    app: { upstream: { url } },
    cross: { upstream: { url }, cors },
    open: { schemes: [], upstream: { url } },
  };
  site = parts.use(await startGatewaySite(gates));
  const certificate = parts.use(await makeCertificate());
  ca = certificate.certificate;
  const resource = `https://localhost:${await freePort()}`;
  const trustedProxies = ['127.0.0.1/32'];
  fronted = parts.use(await startGatewaySite(gates, { resource, trustedProxies }));
  const upstream = fronted.pair.resource;
  parts.use(await startNginxFront({ folder, origin: resource, upstream, certificate }));
  await writeFile(join(folder, 'long'), Buffer.alloc(MEGABYTES * 1024 * 1024, 'some text\n'));
});
afterAll(async () => parts.disposeAsync());

const field = ({ fields }: Pick<Echo, 'fields'>, name: string) =>
  fields.flatMap(([one, value]) => (one.toLowerCase() === name ? [value] : []));
const contentOf = ({ content }: Echo) => Buffer.from(content, 'base64').toString();

describe.each([
  ['directly', () => site],
  ['behind nginx', () => fronted],
])('curl, %s', (where, at) => {
  const alice = ['--user', `${ALICE.name}:${ALICE.password}`];
  const trusting = () => ['--http1.1', '--ipv4', '--cacert', ca];
  const ask = (path: string, ...args: readonly string[]) =>
    curl(...trusting(), ...alice, ...args, `${at().origin}/app/${path}`);

  test("any method with content reaches the application, with the client's identity and address", async () => {
    const from = ['--interface', '127.0.0.2'];
    const forged = ['--header', 'X-Forwarded-For: 10.9.8.7', '--header', 'Forwarded: for=10.9.8.7'];
    const told = await ask(
      'echo/x?y',
      ...from,
      ...forged,
      '--request',
      'PATCH',
      '--data',
      'content',
    );
    expect(told.statuses.at(-1)).toBe(200);
    const echo = JSON.parse(told.body) as Echo;
    expect([echo.method, echo.url, contentOf(echo)]).toEqual([
      'PATCH',
      '/base/echo/x?y',
      'content',
    ]);
    const chain = where === 'directly' ? '127.0.0.2' : '127.0.0.2, 127.0.0.1';
    expect(field(echo, 'x-forwarded-for')).toEqual([chain]);
    expect(field(echo, 'x-forwarded-host')).toEqual([new URL(at().origin).host]);
    expect(field(echo, 'host')).toEqual([new URL(at().origin).host]);
    expect(JSON.stringify(echo)).not.toContain('10.9.8.7');
  });

  test(`${MEGABYTES} MiB pass in both directions, with Expect`, async () => {
    const expecting = ['--header', 'Expect: 100-continue', '--expect100-timeout', '30'];
    const file = join(folder, 'long');
    const back = join(folder, `back-${where.length}`);
    const sent = [...expecting, '--request', 'POST', '--data-binary', `@${file}`, '--output', back];
    // nginx stops reading once an answer begins, so the application answers after the whole content.
    await succeed(
      'curl',
      ['--silent', ...trusting(), ...alice, ...sent, `${at().origin}/app/echo`],
      {
        home: folder,
      },
    );
    const { content } = JSON.parse(await readFile(back, 'utf8')) as Echo;
    expect(Buffer.from(content, 'base64').equals(await readFile(file))).toBe(true);
  });

  test('a redirect of the application leads to the gateway, and the cookie is sent', async () => {
    const jar = join(folder, `jar-${where.length}`);
    const kept = ['--cookie-jar', jar, '--cookie', jar];
    await ask('cookies', ...kept);
    const to = encodeURIComponent('/base/echo');
    const told = await ask(`redirect?to=${to}`, ...kept, '--location');
    expect(told.statuses.at(-1)).toBe(200);
    const echo = JSON.parse(told.body) as Echo;
    expect(field(echo, 'cookie').join('; ')).toContain('whole=1');
    expect(field(echo, 'cookie').join('; ')).not.toContain('part=2');
  });

  test('without a password the client gets 401 with a challenge, and the application no request', async () => {
    const told = await curl(...trusting(), `${at().origin}/app/echo`);
    expect(told.statuses).toEqual([401]);
    expect(told.fields.get('www-authenticate')?.[0]).toMatch(/^Basic realm="app"/);
    expect(told.fields.has('x-powered-by')).toBe(false);
  });

  test('in a space without authentication the application receives the password', async () => {
    const told = await curl(...trusting(), ...alice, `${at().origin}/open/echo`);
    expect(field(JSON.parse(told.body) as Echo, 'authorization')).toEqual([basic()[1]]);
  });
});

describe('undici', () => {
  const agent = new Agent({ allowH2: true });
  const following = agent.compose(interceptors.redirect({ maxRedirections: 2 }));
  afterAll(() => agent.close());
  const headers = { ...Object.fromEntries([basic()]), 'content-type': 'application/jsonpath' };
  const query = { method: 'QUERY', headers, body: '$.a' } as const;

  test('RFC 10008: QUERY reaches the application with its content', async () => {
    const { statusCode, body } = await request(`${site.origin}/app/echo`, {
      ...query,
      dispatcher: agent,
    });
    const echo = (await body.json()) as Echo;
    expect([statusCode, echo.method, contentOf(echo)]).toEqual([200, 'QUERY', '$.a']);
    expect(field(echo, 'content-type')).toEqual(['application/jsonpath']);
  });

  test.each([
    [307, 'QUERY', '$.a'],
    [303, 'GET', ''],
  ])('section 2.5: after %i the request is repeated as %s', async (status, method, content) => {
    const url = `${site.origin}/app/redirect?status=${status}&to=${encodeURIComponent('/base/echo')}`;
    const { body } = await request(url, { ...query, dispatcher: following });
    const echo = (await body.json()) as Echo;
    expect([echo.method, contentOf(echo)]).toEqual([method, content]);
  });
});

describe('Chromium', () => {
  let browser: Browser;
  /** A page of the application itself, behind the gateway. */
  let own: Page;
  /** A page of another origin, which the space `cross` lists and the space `app` does not list. */
  let other: Page;
  beforeAll(async () => {
    browser = parts.use(await launchBrowser());
    const { name: username, password } = ALICE;
    const context = await browser.newContext({ httpCredentials: { username, password } });
    own = await context.newPage();
    await own.goto(`${site.origin}/app/page`);
    other = await (await browser.newContext()).newPage();
    await other.goto(elsewhere.crossSite);
  });

  interface Asked {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  }
  /** Returns the answer that a script sees; `blocked`: the browser showed none. */
  const script = (page: Page, url: string, init: Asked = {}) =>
    page.evaluate(
      async ([at, how]) => {
        try {
          const response = await fetch(at, how);
          const { status, redirected, url: end, headers } = response;
          const text = await response.text();
          return { status, redirected, end, fields: Object.fromEntries(headers), text };
        } catch {
          return 'blocked' as const;
        }
      },
      [url, init] as const,
    );

  test("a script of the application's page gets, posts, follows a redirect and keeps a cookie", async () => {
    expect(await own.textContent('body')).toBe('a page with an entity tag');
    expect(await script(own, 'cookies')).toMatchObject({ status: 200 });
    const moved = await script(own, `redirect?to=${encodeURIComponent('/base/echo/moved')}`);
    if (moved === 'blocked') throw new Error('it was blocked');
    expect(moved).toMatchObject({ redirected: true, end: `${site.origin}/app/echo/moved` });
    const echo = JSON.parse(moved.text) as Echo;
    expect(echo.url).toBe('/base/echo/moved');
    expect(field(echo, 'cookie').join('; ')).toContain('bare=4');
    const posted = await script(own, 'echo', { method: 'POST', body: 'content' });
    if (posted === 'blocked') throw new Error('it was blocked');
    expect(contentOf(JSON.parse(posted.text) as Echo)).toBe('content');
  });

  test.each(['GET', 'POST', 'QUERY', 'PROPFIND', 'DELETE'])(
    'a script of a listed origin may send %s with its own password',
    async (method) => {
      const asked = {
        method,
        headers: Object.fromEntries([basic()]),
        ...(method !== 'GET' && { body: 'content' }),
      };
      const told = await script(other, `${site.origin}/cross/echo`, asked);
      if (told === 'blocked') throw new Error(`${method} was blocked`);
      expect([told.status, (JSON.parse(told.text) as Echo).method]).toEqual([200, method]);
      expect(await script(other, `${site.origin}/app/echo`, asked)).toBe('blocked');
    },
  );
});

test('no logged error is a defect', () => {
  for (const { pair } of [site, fronted]) {
    const log = pair.resources[0]?.log ?? '';
    expect(log.split('\n').filter((one) => one.includes('"level":"error"'))).toEqual([]);
  }
});
