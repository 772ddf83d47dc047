import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { startApplication } from '../parts/application.ts';
import { type Echo, LONG } from '../parts/applications/echo.ts';
import {
  type Answer,
  type Asked,
  type Client,
  connectTo,
  valueOf,
  valuesOf,
  VERSIONS,
} from './gateway/client.ts';
import { basic, type GatewaySite, startGatewaySite } from './gateway/gateway-site.ts';
import { ALICE } from './site.ts';

/** Applications on Express and Koa behind the gateway must work as without the gateway. */
const NAMES = ['express', 'koa'] as const;

const parts = new AsyncDisposableStack();
let site: GatewaySite;
/** The URL of each application. */
const places = new Map<string, string>();
beforeAll(async () => {
  for (const name of NAMES) places.set(name, (await startApplication(parts, name)).url);
  const url = (name: string) => places.get(name) ?? '';
  site = parts.use(
    await startGatewaySite({
      express: { upstream: { url: url('express') } },
      koa: { upstream: { url: url('koa') } },
      'express-own': {
        upstream: { url: url('express'), host: 'upstream', forwarded: 'forwarded' },
      },
      some: { upstream: { url: url('koa') }, methods: ['GET', 'POST', 'PURGE', 'REPORT'] },
    }),
  );
});
afterAll(async () => parts.disposeAsync());

const echoed = ({ content }: Answer) => JSON.parse(String(content)) as Echo;
const field = ({ fields }: Pick<Echo, 'fields'>, name: string) =>
  fields.flatMap(([one, value]) => (one.toLowerCase() === name ? [value] : []));

describe.each(NAMES)('%s', (name) => {
  describe.each(VERSIONS)('over %s', (version) => {
    let client: Client;
    beforeAll(() => {
      client = parts.use(connectTo(site.origin, version));
    });
    const ask = (path: string, asked: Asked = {}) =>
      client.ask(`/${name}/${path}`, { ...asked, fields: [basic(), ...(asked.fields ?? [])] });

    test("the application receives method, target, fields, content and the caller's identity", async () => {
      const answer = await ask('echo/a%20b/?q=%2F&r', {
        method: 'POST',
        fields: [
          ['Accept-Language', 'de'],
          ['Accept-Language', 'en'],
          ['X-Custom', 'ü'],
          ['Content-Type', 'text/plain'],
        ],
        content: 'content',
      });
      expect(answer.status).toBe(200);
      const echo = echoed(answer);
      expect(echo).toMatchObject({ method: 'POST', url: '/base/echo/a%20b/?q=%2F&r' });
      expect(Buffer.from(echo.content, 'base64').toString()).toBe('content');
      expect(field(echo, 'accept-language').join(', ')).toBe('de, en');
      expect(field(echo, 'host')).toEqual([new URL(site.origin).host]);
      expect(field(echo, 'x-forwarded-for')).toEqual(['127.0.0.1']);
      expect(field(echo, 'x-forwarded-proto')).toEqual(['http']);
      expect(field(echo, 'x-forwarded-host')).toEqual([new URL(site.origin).host]);
      expect(field(echo, 'authorization')).toEqual([]);
      const [statement = ''] = field(echo, 'x-auth-statement');
      expect(decodeJwt(statement)['name']).toBe(ALICE.name);
      expect(field(echo, 'x-request-id')).toEqual(valuesOf(answer, 'x-request-id'));
    });

    test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'LOCK'])(
      'the application receives %s with content',
      async (method) => {
        const fields = [['Content-Type', 'application/json']] as const;
        const echo = echoed(await ask('echo', { method, fields, content: '{"a":1}' }));
        expect([echo.method, Buffer.from(echo.content, 'base64').toString()]).toEqual([
          method,
          '{"a":1}',
        ]);
      },
    );

    test('content in pieces is forwarded in pieces, in both directions at once', async () => {
      const source = new PassOn();
      const answering = ask('mirror', { method: 'POST', content: source });
      for (let piece = 0; piece < 100; piece += 1) source.push(`${piece},`.repeat(1000));
      source.push(null);
      const { complete, content } = await answering;
      const expected = Array.from({ length: 100 }, (_, piece) => `${piece},`.repeat(1000)).join('');
      expect([complete, String(content) === expected]).toEqual([true, true]);
    });

    test.each([
      ['a path', '/base/x?y#z', (at: string) => [`${at}x?y#z`]],
      ['our URL', 'OURS/base/x', (at: string) => [`${at}x`, `${site.origin}${at}x`]],
      ['its own URL', 'THEIRS/base/x?y', (at: string) => [`${at}x?y`, `${site.origin}${at}x?y`]],
      ['a relative reference', '../x', () => ['../x']],
      ['elsewhere', 'https://other.example/base/x', () => ['https://other.example/base/x']],
    ])('the gateway maps a redirect to %s', async (_, to, expected) => {
      const theirs = new URL(places.get(name) ?? '').origin;
      const reference = to.replace('OURS', site.origin).replace('THEIRS', theirs);
      const answer = await ask(`redirect?status=307&to=${encodeURIComponent(reference)}`);
      expect(answer.status).toBe(307);
      expect(expected(`/${name}/`)).toContain(valueOf(answer, 'location'));
    });

    test('the gateway maps Location and Content-Location of a created resource', async () => {
      const answer = await ask('things', { method: 'POST', content: 'x' });
      expect(answer.status).toBe(201);
      for (const one of ['location', 'content-location']) {
        expect(valueOf(answer, one)).toBe(`/${name}/things/1`);
      }
    });

    test('the gateway maps the path of a cookie and keeps the other attributes', async () => {
      const cookies = valuesOf(await ask('cookies'), 'set-cookie').map((one) => one.toLowerCase());
      expect(cookies).toEqual([
        `whole=1; path=/${name}/; httponly`,
        `part=2; path=/${name}/deeper`,
        'other=3; path=/elsewhere/',
        'bare=4',
      ]);
    });

    test('RFC 8297: the gateway forwards early hints', async () => {
      const { interim, content } = await ask('hints');
      expect(String(content)).toBe('hinted');
      const [, fields] = interim.find(([status]) => status === 103) ?? [];
      expect(fields?.filter(([one]) => one === 'link')).toHaveLength(1);
    });

    test('RFC 9110 section 6.5: the gateway forwards trailers in both directions', async () => {
      const fields = [['TE', 'trailers']] as const;
      const answer = await ask('trailers', { fields });
      expect([answer.complete, String(answer.content)]).toEqual([true, 'content']);
      expect(answer.trailers).toContainEqual(['x-checksum', 'abc']);
      const echo = echoed(
        await ask('echo', {
          method: 'POST',
          content: 'content',
          fields: [['Trailer', 'X-Sum']],
          trailers: [['X-Sum', '42']],
        }),
      );
      expect(echo.trailers.map(([one, value]) => [one.toLowerCase(), value])).toEqual([
        ['x-sum', '42'],
      ]);
    });

    test('RFC 9110 section 10.1.1: an admitted request gets 100, and a refused request gets 401 at once', async () => {
      const expecting = { method: 'PUT', content: 'content' };
      const fields = [['Expect', '100-continue']] as const;
      const echo = echoed(await ask('echo', { ...expecting, fields }));
      expect(Buffer.from(echo.content, 'base64').toString()).toBe('content');
      const refused = await client.ask(`/${name}/echo`, { ...expecting, fields: [...fields] });
      expect([refused.status, refused.interim]).toEqual([401, []]);
    });

    test('compressed content is unchanged', async () => {
      const answer = await ask('gzip', { fields: [['Accept-Encoding', 'gzip']] });
      expect(valueOf(answer, 'content-encoding')).toBe('gzip');
      expect(gunzipSync(answer.content).toString()).toBe(LONG);
    });

    test('a conditional request gets 304 without content', async () => {
      const page = await ask('page');
      const fields = [['If-None-Match', valueOf(page, 'etag') ?? '']] as const;
      const again = await ask('page', { fields });
      expect([again.status, again.complete, again.content.length]).toEqual([304, true, 0]);
    });

    test('HEAD gets the fields of GET', async () => {
      const [get, head] = [await ask('page'), await ask('page', { method: 'HEAD' })];
      expect([head.status, head.content.length]).toEqual([200, 0]);
      for (const one of ['content-length', 'content-type', 'etag']) {
        expect(valueOf(head, one)).toBe(valueOf(get, one));
      }
    });

    test("the application's error answers are unchanged, but a 405 without Allow gets the space's methods", async () => {
      expect((await ask('missing')).status).toBe(404);
      expect((await ask('broken')).status).toBe(500);
      const answer = await ask('only', { method: 'DELETE' });
      expect(answer.status).toBe(405);
      expect(valueOf(answer, 'allow')?.split(', ')).toEqual(
        expect.arrayContaining(['GET', 'DELETE']),
      );
    });

    test('a client that disconnects early causes no error in the application', async () => {
      await using leaving = connectTo(site.origin, version);
      const source = new PassOn();
      const asked = { method: 'POST', fields: [basic()], content: source };
      const answering = leaving.ask(`/${name}/mirror`, asked);
      source.push('begun');
      await leaving[Symbol.asyncDispose]();
      expect((await answering).complete).toBe(false);
      expect((await ask('page')).status).toBe(200);
    });
  });
});

describe('the settings of a space', () => {
  let client: Client;
  beforeAll(() => {
    client = parts.use(connectTo(site.origin, 'HTTP/1.1'));
  });

  test("choose the upstream's Host and the field Forwarded (RFC 7239)", async () => {
    const echo = echoed(await client.ask('/express-own/echo', { fields: [basic()] }));
    const { host } = new URL(site.origin);
    expect(field(echo, 'host')).toEqual([new URL(places.get('express') ?? '').host]);
    expect(field(echo, 'forwarded')).toEqual([expect.stringMatching(/for=127\.0\.0\.1/)]);
    expect(field(echo, 'forwarded')[0]).toContain(`host="${host}"`);
    expect(field(echo, 'x-forwarded-for')).toEqual([]);
  });

  test('list the methods: listed methods pass, other methods get 405', async () => {
    const methods = ['GET', 'HEAD', 'POST', 'PURGE', 'REPORT', 'PUT', 'DELETE', 'PATCH'];
    const statuses = [];
    for (const method of methods) {
      statuses.push((await client.ask('/some/echo', { method, fields: [basic()] })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 405, 405, 405]);
  });
});

/** A stream whose pieces are pushed by a test. */
class PassOn extends Readable {
  override _read(): void {}
}
