import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { startApplication, startGateway } from '../gateway.fixture.ts';
import { clientOf } from '../spaces-under-test.fixture.ts';
import type { Call, Reply } from '#shared/server/wire/ask.fixture.ts';
import {
  ISSUER,
  PAGES,
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from '../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const asking = (method: string, path: string, fields: object, { headers, body }: Call = {}) =>
  rs.ask(method, path, { headers: { ...headers, ...fields }, ...(body && { body }) });

/** Fields about the content, and fields that differ between any two answers. */
const OF_CONTENT =
  /^(?:content-|x-frame-options$|referrer-policy$|date$|x-request-id$|keep-alive$|connection$)/;

const otherFields = ({ headers }: Reply) =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !OF_CONTENT.test(name))
      .map(([name, value]) => [name, String(value).replaceAll(/nonce="[^"]*"/g, 'nonce')]),
  );
/** Removes the id of the request from a text. */
const bare = ({ text, headers }: Reply) => text.replaceAll(String(headers['x-request-id']), '');

const bearer = (scope: string) => ({ headers: { Authorization: `Bearer ${rs.token(scope)}` } });

describe('errors: a page for a browser, problem details for a program (RFC 9110 section 12.5.1)', () => {
  test.each<[number, string, string, () => Call, string]>([
    [400, 'GET', '/documents/%2e%2e/x', () => ({}), 'This request cannot be answered'],
    [401, 'GET', '/documents/', () => ({}), 'This address needs credentials'],
    [401, 'GET', '/dav/', () => ({}), 'This address needs credentials'],
    [403, 'GET', '/documents/', () => bearer('documents:write'), 'You have no access'],
    [404, 'GET', '/nowhere', () => ({}), 'There is nothing here'],
    [404, 'GET', '/hidden/', () => bearer('hidden:none'), 'There is nothing here'],
    [404, 'GET', '/documents/none', () => bearer('documents:read'), 'There is nothing here'],
    [405, 'POST', '/.well-known/oauth-protected-resource', () => ({}), 'This request cannot be'],
    [403, 'GET', '/verify', () => ({}), 'You have no access'],
  ])(
    'an error page has the same status and fields as problem details: %i %s %s',
    async (status, method, path, call, title) => {
      const json = await asking(method, path, { Accept: '*/*' }, call());
      const page = await asking(method, path, BROWSER, call());
      expect([json.status, page.status]).toEqual([status, status]);
      expect(otherFields(page)).toEqual(otherFields(json));
      expect(json.headers['content-type']).toBe('application/problem+json');
      expect(page.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-language': 'en',
        'cache-control': 'no-store',
        'content-length': String(Buffer.byteLength(page.text)),
      });
      expect(page.headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      expect(page.text).toContain(`<h1>${title}`);
      expect(page.text).toContain(`<code>${String(page.headers['x-request-id'])}</code>`);
      if (method === 'POST') return;
      const head = await asking('HEAD', path, { ...BROWSER, 'If-None-Match': '*' }, call());
      expect([head.status, head.text]).toEqual([status, '']);
      expect(head.headers['content-length']).toBe(page.headers['content-length']);
    },
  );

  test('an error page of 401 and 403 links the home page and the account page', async () => {
    const links = ({ text }: Reply) =>
      [...text.matchAll(/<a class="button[^"]*" href="([^"]*)"/g)].map(([, href]) => href);
    const ways = [`${RESOURCE}/`, `${ISSUER}/account`];
    expect(links(await asking('GET', '/documents/', BROWSER))).toEqual(ways);
    const writer = bearer('documents:write');
    expect(links(await asking('GET', '/documents/', BROWSER, writer))).toEqual(ways);
    expect(links(await asking('GET', '/nowhere', BROWSER))).toEqual([]);
  });

  test('every challenge is on its own line, also in an answer with a page', async () => {
    const lines = ({ raw }: Reply) =>
      raw.filter((_, index) => raw[index - 1]?.toLowerCase() === 'www-authenticate');
    const page = lines(await asking('GET', '/dav/', BROWSER));
    expect(page.length).toBeGreaterThan(1);
    expect(page.map((line) => line.split(' ')[0])).toEqual(
      lines(await asking('GET', '/dav/', {})).map((line) => line.split(' ')[0]),
    );
  });

  test.each([
    ['a script', 'GET', { 'Sec-Fetch-Mode': 'cors', Origin: PAGES }],
    ['an image', 'GET', { 'Sec-Fetch-Mode': 'no-cors' }],
    ['WebDAV', 'PROPFIND', {}],
    ['a method of no browser', 'PUT', {}],
  ])(
    'a client with %s gets problem details, with the CORS fields',
    async (_what, method, fields) => {
      const usual = await asking(method, '/documents/x', fields);
      const reply = await asking(method, '/documents/x', { ...BROWSER, ...fields });
      expect(reply.headers['content-type']).toBe('application/problem+json');
      expect(reply.text).toBe(usual.text);
      expect(otherFields(reply)).toEqual(otherFields(usual));
      expect('access-control-allow-origin' in reply.headers).toBe('Origin' in fields);
    },
  );

  test('the error page is in the language of the person (RFC 9110 section 12.5.4)', async () => {
    const page = await asking('GET', '/nowhere', { ...BROWSER, 'Accept-Language': 'de-CH, en' });
    expect(page.headers['content-language']).toBe('de');
    expect(page.text).toContain('<h1>Hier ist nichts</h1>');
  });

  test('a hidden space gets the same error page as an absent one, octet by octet', async () => {
    const [hidden, absent] = [
      await asking('GET', '/hidden/x', BROWSER, bearer('hidden:none')),
      await asking('GET', '/nowhere/x', BROWSER, bearer('hidden:none')),
    ];
    expect(bare(hidden)).toBe(bare(absent));
    expect(otherFields(hidden)).toEqual(otherFields(absent));
  });

  test('an anonymous client gets no request id on the error page (RFC 9576 section 6.1)', async () => {
    const named = {
      ...BROWSER,
      Authorization: 'PrivateToken token="AA"',
      'X-Request-Id': 'the-id',
    };
    const page = await asking('GET', '/nowhere', named);
    expect(page.headers).not.toHaveProperty('x-request-id');
    expect(page.text).not.toMatch(/<code>|the-id/);
  });

  test('the error page escapes text from the client', async () => {
    const host = '<script>alert(1)</script>"&';
    const page = await asking('GET', '/nowhere', { ...BROWSER, 'X-Request-Id': 'a"><script>' });
    expect(page.text).not.toContain('<script');
    const fields = { ...BROWSER, 'X-Forwarded-Method': host, 'X-Forwarded-Proto': 'https' };
    expect((await asking('GET', '/verify', fields)).text).not.toContain('<script');
  });

  test('an outage of the store gives 503 with Retry-After', async () => {
    const away = () => Promise.reject(new StoreUnavailable('the store is away'));
    await using broken = await startResourceServer({}, (stores) => ({
      ...stores,
      trees: Object.assign(Object.create(stores.trees) as typeof stores.trees, {
        get: away,
        look: away,
        list: away,
        version: away,
      }),
    }));
    const headers = { ...BROWSER, Authorization: `Bearer ${broken.token('documents:read')}` };
    const page = await broken.ask('GET', '/documents/', { headers });
    expect([page.status, page.headers['retry-after']]).toEqual([503, '1']);
    expect(page.text).toContain('<h1>We cannot answer right now</h1>');
  });
});

describe('behind the gateway', () => {
  test('an application that cannot be reached gives 502, with a page for a browser', async () => {
    await using gone = await startGateway({ gone: { upstream: { url: 'http://127.0.0.1:9/' } } });
    const as = clientOf(gone);
    const json = await as('GET', '/gone/x');
    const page = await as('GET', '/gone/x', { headers: BROWSER });
    expect([json.status, page.status]).toEqual([502, 502]);
    expect(page.text).toContain('<h1>The application does not answer</h1>');
    expect(otherFields(page)).toEqual(otherFields(json));
  });

  test('the gateway never replaces error answers of the application', async () => {
    const body = '{"title":"Gone","status":410,"detail":"<b>mine</b>"}';
    await using application = await startApplication((_request, response) => {
      response.writeHead(410, { 'Content-Type': 'application/problem+json' }).end(body);
    });
    const { url } = application;
    await using gateway = await startGateway({
      plain: { upstream: { url } },
      kept: { upstream: { url }, cache: {} },
    });
    for (const path of ['/plain/x', '/kept/x', '/kept/x']) {
      const { status, text, headers } = await clientOf(gateway)('GET', path, { headers: BROWSER });
      expect([status, text, headers['content-type']]).toEqual([
        410,
        body,
        'application/problem+json',
      ]);
    }
  });
});
