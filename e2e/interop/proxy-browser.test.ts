/** @needs chromium */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { valuesOf } from '../clients/digest/exchange.ts';
import { ONE_STORE } from '../flows/flow.ts';
import { basic, makeCertificate, SECRETS, startOrigin, startProxySite } from './proxy-site.ts';
import type { CertificateFiles, Origin, ProxySite } from './proxy-site.ts';
import { ALICE, identity, JASON } from './site.ts';
import { until } from '../parts/process.ts';

/** Chromium behind the forward proxy, in clear text and over TLS with HTTP/2. */
const WRONG = { ...ALICE, password: 'wrong' };
type Person = typeof ALICE;

/**
 * An origin that asks for Basic at `/closed` and shows the received credentials; elsewhere it answers
 * `hello`.
 */
function halfClosed({ url, headers }: IncomingMessage, response: ServerResponse): void {
  const { authorization } = headers;
  if (url !== '/closed') response.end('hello');
  else if (authorization !== undefined) response.end(authorization);
  else response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="a", charset="UTF-8"' }).end();
}

const parts = new AsyncDisposableStack();
let browser: Browser;
let files: CertificateFiles;
let origin: Origin;
let secure: Origin;
beforeAll(async () => {
  browser = parts.use(
    await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--ignore-certificate-errors', // errors of the proxy's certificate; a context's own setting covers pages only
      ],
    }),
  );
  files = parts.use(await makeCertificate());
  origin = parts.use(await startOrigin());
  secure = parts.use(await startOrigin(halfClosed, files));
});
afterAll(async () => parts.disposeAsync());
beforeEach(() => void [origin, secure].map((one) => one.take()));

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: ProxySite;
  const proxies = new Map<string, string>();
  beforeAll(async () => {
    const destinations = ['self', origin.at, secure.at];
    site = await startProxySite(kind, () => ({ destinations }));
    const own = new URL(site.pair.resource).host;
    const beside = async (name: string, members: object) => {
      const proxy = { destinations: [...destinations, own], ...members };
      const scheme = 'tls' in members ? 'https' : 'http';
      const { port } = await site.startBeside({ proxy });
      proxies.set(name, `${scheme}://127.0.0.1:${port}`);
    };
    const tls = { certificate: files.certificate, key: files.key };
    proxies.set('Digest before Basic', site.pair.proxies[0] ?? '');
    await beside('Basic', { schemes: ['Basic'] });
    await beside('Digest before Basic, with TLS', { tls });
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  /** A window behind the proxy, of a person who gives the browser this password for the proxy. */
  async function windowOf(proxy: string, { name: username, password }: Person, atOrigin?: Person) {
    const context = await browser.newContext({
      proxy: { server: proxies.get(proxy) ?? '', username, password },
      ...(atOrigin && {
        httpCredentials: { username: atOrigin.name, password: atOrigin.password },
      }),
    });
    context.setDefaultTimeout(60_000);
    return context.newPage();
  }

  async function visit(page: Page, url: string) {
    const response = await page.goto(url);
    if (response === null) throw new Error('there is no answer');
    return { status: response.status(), body: await response.text() };
  }

  describe.each([
    ['Basic', '1.1'],
    ['Digest before Basic', '1.1'],
    ['Digest before Basic, with TLS', '2.0'],
  ])('%s', (proxy, version) => {
    test('admits requests and tunnels, twice', async () => {
      const page = await windowOf(proxy, JASON);
      for (const at of ['/a?b=c', '/d']) {
        expect(await visit(page, `http://${origin.at}${at}`)).toEqual({
          status: 200,
          body: 'hello',
        });
        const got = origin.take().find(({ target }) => target === at);
        expect(valuesOf(got?.fields ?? [], 'via').join()).toMatch(version);
        expect(valuesOf(got?.fields ?? [], 'proxy-authorization')).toEqual([]);
        expect(await visit(page, `https://${secure.at}${at}`)).toMatchObject({ status: 200 });
      }
      await page.context().close();
    });

    test("opens a tunnel, and passes the origin's credentials through it", async () => {
      const page = await windowOf(proxy, ALICE, JASON);
      const url = `https://${secure.at}/closed`;
      expect(await visit(page, url)).toEqual({ status: 200, body: basic(JASON) });
      await page.context().close();
    });

    test('answers 407 to a wrong password', async () => {
      const page = await windowOf(proxy, WRONG);
      expect(await visit(page, `http://${origin.at}/wrong`)).toMatchObject({ status: 407 });
      await expect(visit(page, `https://${secure.at}/wrong`)).rejects.toThrow('net::ERR_');
      const targets = [...origin.take(), ...secure.take()].map(({ target }) => target);
      expect(targets).not.toContain('/wrong');
      await page.context().close();
    });
  });

  test.each([
    ['basic', 'Basic'],
    ['digest', 'Digest'],
  ])('admits Basic, and %s for the origin', async (name, scheme) => {
    const page = await windowOf('Basic', ALICE, JASON);
    for (let time = 0; time < 2; time += 1) {
      const seen = await visit(page, `${site.pair.resource}/schemes/${name}/`);
      expect(seen).toEqual({ status: 200, body: identity(scheme, name, JASON) });
    }
    await page.context().close();
  });

  /**
   * When Chromium 156 adds the origin's credentials, it repeats its nonce count at the proxy with another
   * cnonce, because its HttpAuthHandlerDigest counts per page request, not per message.
   */
  test('RFC 7616 section 3.4: Digest for the proxy and Basic for the origin: Chromium repeats a nonce count', async () => {
    const page = await windowOf('Digest before Basic', ALICE, JASON);
    const url = `${site.pair.resource}/schemes/basic/`;
    expect(await visit(page, url)).toMatchObject({ status: 407 });
    const refused =
      '"scheme":"Digest","refusal":"digest-used","reason":"nc was used before","status":407';
    await until(() => site.pair.resources[0]?.log.includes(refused) === true);
    await page.context().close();
  });

  test('Chromium uses Digest if the proxy offers it first', () => {
    const log = site.pair.resources[0]?.log ?? '';
    const granted = log.split('\n').filter((line) => line.includes('"verdict":"granted"'));
    const schemes = granted
      .filter((line) => line.includes('"event":"proxy.'))
      .map((line) => (JSON.parse(line) as { scheme?: string }).scheme);
    expect(new Set(schemes)).toEqual(new Set(['Digest']));
    expect(SECRETS.filter((secret) => log.includes(secret))).toEqual([]);
  });
});
