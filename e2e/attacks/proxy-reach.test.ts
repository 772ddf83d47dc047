import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { run, valuesOf } from '../clients/digest/exchange.ts';
import type { HttpRequest, HttpResponse, Send } from '../clients/digest/exchange.ts';
import { digestClient } from '../clients/digest/digest-client.ts';
import { overHttp, tunnelAgent } from '../clients/digest/over-http.ts';
import { ONE_STORE } from '../flows/flow.ts';
import { overHttp2 } from '../interop/over-http2.ts';
import type { OverHttp2 } from '../interop/over-http2.ts';
import { curl } from '../interop/programs.ts';
import { basic, SECRETS, startOrigin, startProxySite, startTcp } from '../interop/proxy-site.ts';
import type { Behind, Origin, ProxyProcess, ProxySite } from '../interop/proxy-site.ts';
import { ALICE } from '../interop/site.ts';
import { until } from '../parts/process.ts';

/** The destinations of the forward proxy, and its changes to forwarded messages (RFC 9110 section 7.6). */
const NOTHING = Buffer.alloc(0);
const BASIC = ['Proxy-Authorization', basic()] as const;

const asked = (method: string, target: string, ...fields: HttpRequest['fields']): HttpRequest => ({
  method,
  target,
  fields,
  content: NOTHING,
});

const HOPS = [
  ['Connection', 'x-secret, close'],
  ['X-Secret', 'a'],
  ['Keep-Alive', 'timeout=5'],
  ['Proxy-Authenticate', 'Basic realm="inner"'],
  ['Proxy-Authentication-Info', 'a="b"'],
  ['Proxy-Connection', 'keep-alive'],
  ['Upgrade', 'h2c'],
];
const TO_THE_END = [
  ['X-Open', 'b'],
  ['WWW-Authenticate', 'Basic realm="outer"'],
  ['Authentication-Info', 'c="d"'],
];

/** The origin's answers at these paths. At other paths the answer is `hello`. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/407': (response) =>
    response.writeHead(407, { 'Proxy-Authenticate': 'Basic realm="inner"' }).end('give me more'),
  '/slow': (response) => response.flushHeaders(),
  '/hops': (response) => response.writeHead(200, [...HOPS, ...TO_THE_END].flat()).end('hops'),
};

const parts = new AsyncDisposableStack();
let origin: Origin;
let secret: Behind;
beforeAll(async () => {
  origin = parts.use(
    await startOrigin(({ url = '' }, response) => {
      (ANSWERS[url] ?? ((one: ServerResponse) => one.end('hello')))(response);
    }),
  );
  secret = parts.use(await startTcp((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nsecret')));
});
afterAll(async () => parts.disposeAsync());
beforeEach(() => void origin.take());

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: ProxySite;
  beforeAll(async () => {
    site = await startProxySite(kind);
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  describe('the default forward proxy', () => {
    let port: string;
    let send: Send;
    beforeAll(() => {
      ({ port } = new URL(site.pair.resource));
      send = overHttp(site.proxy);
    });

    /** The statuses of a request and of a tunnel to this authority, over both versions of HTTP. */
    async function statuses(authority: string, fields = [BASIC]): Promise<readonly number[]> {
      await using http2 = overHttp2(site.pair.proxies[0] ?? '');
      const answers: HttpResponse[] = [];
      for (const through of [send, http2.send]) {
        answers.push(await through(asked('GET', `http://${authority}/health/live`, ...fields)));
        answers.push(await through(asked('CONNECT', authority, ...fields)));
      }
      for (const { tunnel } of answers) tunnel?.destroy();
      return answers.map(({ status }) => status);
    }
    const all = (status: number) => [status, status, status, status];

    test.each(['127.0.0.1', 'localhost', 'LOCALHOST', 'localhost.'])(
      'reaches the resource server at %s',
      async (host) => {
        expect(await statuses(`${host}:${port}`)).toEqual(all(200));
      },
    );

    test.each([
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::]',
      '0.0.0.0',
      '127.0.0.2',
      '10.0.0.1',
      '1.1.1.1',
    ])(
      "refuses the resource server's port at %s, where the server does not listen",
      async (host) => {
        expect(await statuses(`${host}:${port}`)).toEqual(all(403));
      },
    );

    test('reaches a resource server that listens at ::1, and refuses its port at 127.0.0.1', async () => {
      const beside = await site.startBeside({}, '::1');
      const there = overHttp({ host: '127.0.0.1', port: beside.port });
      const codes = [];
      for (const host of ['[::1]', '127.0.0.1']) {
        const url = `http://${host}:${beside.main}/health/live`;
        codes.push((await there(asked('GET', url, BASIC))).status);
      }
      expect(codes).toEqual([200, 403]);
      await beside.process.kill();
    });

    test.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:7f00:1]', '[::]', '0.0.0.0'])(
      'refuses the authorization server at %s',
      async (host) => {
        expect(await statuses(`${host}:${new URL(site.pair.issuer).port}`)).toEqual(all(403));
      },
    );

    test('refuses every other listening port of this machine', async () => {
      const { port: own } = new URL(site.pair.proxies[0] ?? '');
      const ports = await listeningPorts();
      expect(ports).toEqual(expect.arrayContaining([own, String(secret.port)]));
      const codes = new Map<string, number>();
      const { port: overTls } = new URL(site.pair.resourceTls);
      for (const one of ports.filter((other) => other !== port && other !== overTls)) {
        for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
          const { status, tunnel } = await send(asked('CONNECT', `${host}:${one}`, BASIC));
          tunnel?.destroy();
          if (status !== 403) codes.set(`${host}:${one}`, status);
        }
      }
      expect(codes).toEqual(new Map());
      expect(secret.connections()).toBe(0);
    });

    test.each([
      '169.254.169.254:80',
      '[fd00:ec2::254]:80',
      '100.100.100.200:80',
      'metadata.google.internal:80',
      'example.com:80',
      'example.com:443',
      '1.1.1.1:443',
      '[2606:4700::1111]:443',
    ])('refuses %s', async (authority) => {
      expect(await statuses(authority)).toEqual(all(403));
    });

    test.each(['127.1', '2130706433', '0x7f000001', '0177.0.0.1', 'a@127.0.0.1'])(
      'refuses the ambiguous address %s with 400',
      async (host) => {
        const codes = [];
        for (const request of [
          asked('GET', `http://${host}:${port}/health/live`, BASIC),
          asked('CONNECT', `${host}:${port}`, BASIC),
        ]) {
          codes.push((await send(request)).status);
        }
        expect(codes).toEqual([400, 400]);
      },
    );

    test('gives an unknown client the same answer for every destination', async () => {
      for (const authority of [`127.0.0.1:${port}`, secret.at, 'example.com:80']) {
        expect(await statuses(authority, [])).toEqual(all(407));
      }
      expect(secret.connections()).toBe(0);
    });
  });

  describe('the forward proxy changes a message:', () => {
    let beside: ProxyProcess;
    let send: Send;
    let send2: Send;
    let http2: OverHttp2;
    beforeAll(async () => {
      beside = await site.startBeside({ proxy: { destinations: [origin.at] } });
      const { port } = beside;
      send = overHttp({ host: '127.0.0.1', port });
      http2 = overHttp2(`http://127.0.0.1:${port}`);
      send2 = http2.send;
    });
    afterAll(async () => http2[Symbol.asyncDispose]());

    const url = (path: string) => `http://${origin.at}${path}`;
    const names = () => origin.take().map(({ fields }) => fields.map(([name]) => name).toSorted());

    test('RFC 9110 section 11.7.2: it removes the proxy credentials', async () => {
      const client = digestClient({ username: ALICE.name, ...ALICE, at: 'proxy' });
      for (const through of [send, send2]) {
        const { status } = await run(client.exchange(asked('GET', url('/'))), through);
        expect(status).toBe(200);
      }
      expect(names()).toEqual([
        ['connection', 'host', 'via'],
        ['connection', 'host', 'via'],
      ]);
    });

    test('section 7.6.1: it removes fields for one connection from a request', async () => {
      const fields = [
        'Connection: close, x-secret',
        'X-Secret: a',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'TE: gzip',
        'Upgrade: h2c',
        'Forwarded: for=10.0.0.1',
        'X-Forwarded-For: 10.0.0.1',
        'X-Open: b',
      ].flatMap((line) => ['--header', line]);
      const proxy = ['--proxy', `http://127.0.0.1:${beside.port}`];
      const user = ['--proxy-digest', '--proxy-user', `${ALICE.name}:${ALICE.password}`];
      const { statuses } = await curl(...proxy, ...user, ...fields, url('/?secret-query'));
      expect(statuses).toEqual([407, 200]);
      const [got] = origin.take();
      expect(got).toMatchObject({ method: 'GET', target: '/?secret-query' });
      const came = new Map(got?.fields);
      expect([...came.keys()].toSorted()).toEqual(
        ['accept', 'connection', 'host', 'user-agent', 'via', 'x-open'].toSorted(),
      );
      expect(came.get('connection')).toBe('close');
      expect(came.get('via')).toMatch(/^1\.1 countersign-[0-9a-f]{12}$/);
    });

    test("section 7.6.3: Via names the version of the client's HTTP", async () => {
      for (const through of [send, send2]) await through(asked('GET', url('/'), BASIC));
      const via = origin.take().flatMap(({ fields }) => valuesOf(fields, 'via'));
      expect(via).toEqual([expect.stringMatching(/^1\.1 /), expect.stringMatching(/^2\.0 /)]);
    });

    test('section 7.6.1: it removes fields for one connection from an answer', async () => {
      for (const through of [send, send2]) {
        const { status, fields } = await through(asked('GET', url('/hops'), BASIC));
        expect(status).toBe(200);
        const given = fields.map(([name, value]) => `${name.toLowerCase()}: ${value}`);
        const lines = (of: typeof HOPS) =>
          of.map(([name, value]) => `${name?.toLowerCase()}: ${value}`);
        expect(given).toEqual(expect.arrayContaining(lines(TO_THE_END)));
        expect(lines(HOPS).filter((line) => given.includes(line))).toEqual([]);
        expect(valuesOf(fields, 'via').join()).toMatch(/^1\.1 countersign-/);
      }
    });

    test("it forwards an answer's fields before the content", async () => {
      const stream = http2.session.request({
        ':scheme': 'http',
        ':authority': origin.at,
        ':path': '/slow',
        'proxy-authorization': basic(),
      });
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      expect(headers[':status']).toBe(200);
      stream.close();
    });

    test('section 15.5.8: it answers 502 if the origin answers 407', async () => {
      for (const through of [send, send2]) {
        const { status, fields, content } = await through(asked('GET', url('/407'), BASIC));
        expect(status).toBe(502);
        expect(valuesOf(fields, 'proxy-authenticate')).toEqual([]);
        expect(String(content)).not.toContain('give me more');
      }
    });

    test('in a tunnel a 407 of the origin reaches the client unchanged', async () => {
      const { tunnel } = await send(asked('CONNECT', origin.at, BASIC));
      if (tunnel === undefined) throw new Error('there is no tunnel');
      const agent = tunnelAgent(tunnel);
      const inside = overHttp({ host: '127.0.0.1', port: origin.port, agent });
      const { status, fields } = await inside(asked('GET', '/407'));
      expect(status).toBe(407);
      expect(valuesOf(fields, 'proxy-authenticate')).toEqual(['Basic realm="inner"']);
      expect(valuesOf(fields, 'via')).toEqual([]);
      agent.destroy();
    });

    test('section 11.7.2: it passes no credentials on, even if Connection names the field', async () => {
      const both = [BASIC, ['Connection', 'proxy-authorization'] as const];
      expect((await send(asked('GET', url('/'), ...both))).status).toBe(200);
      expect(names()).toEqual([['connection', 'host', 'via']]);
    });

    test('it logs no credentials and no query', async () => {
      for (const read of [() => site.pair.resources[0]?.log ?? '', () => beside.process.output]) {
        await until(() => /"event":"proxy.request"/.test(read()));
        const log = read();
        const secrets = [...SECRETS, 'secret-query', 'response=', 'nonce='];
        expect(secrets.filter((one) => log.includes(one))).toEqual([]);
        expect(log).not.toContain('"level":"error"');
      }
    });
  });
});

/** The ports on which this machine listens, as Linux reports them (proc(5)). */
async function listeningPorts(): Promise<readonly string[]> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')),
  );
  const rows = Array.from(tables.join('').matchAll(/:([0-9A-F]{4}) [0-9A-F]+:0000 0A /g));
  return [...new Set(rows.map(([, port = '']) => String(Number.parseInt(port, 16))))];
}
