import { Agent } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { digestClient } from './digest/digest-client.ts';
import { run, valuesOf } from './digest/exchange.ts';
import type { HttpRequest, SchemeClient, Send } from './digest/exchange.ts';
import { overHttp, tunnelAgent } from './digest/over-http.ts';
import { scramClient } from './scram/scram-client.ts';
import { ONE_STORE } from '../flows/flow.ts';
import { overHttp2 } from '../interop/over-http2.ts';
import { basic, makeCertificate, startOrigin, startProxySite } from '../interop/proxy-site.ts';
import type { CertificateFiles, Origin, ProxyProcess, ProxySite } from '../interop/proxy-site.ts';
import { ALICE, identity, JASON } from '../interop/site.ts';

/**
 * Schemes that few clients support at a proxy: Digest with proofs, SCRAM, both over HTTP/2. The clients
 * were written only from the RFCs and refuse a success without a valid proof.
 */
const WRONG = { ...ALICE, password: 'wrong' };
const NOBODY = { ...ALICE, name: 'nobody' };
const NOTHING = Buffer.alloc(0);

const parts = new AsyncDisposableStack();
let files: CertificateFiles;
let origin: Origin;
beforeAll(async () => {
  files = parts.use(await makeCertificate());
  origin = parts.use(await startOrigin());
});
afterAll(async () => parts.disposeAsync());
beforeEach(() => void origin.take());

const WHO = { username: ALICE.name, password: ALICE.password };
const AT_PROXY = { ...WHO, at: 'proxy' } as const;
const CLIENTS: readonly (readonly [name: string, make: () => SchemeClient])[] = [
  ['Digest SHA-256', () => digestClient({ ...AT_PROXY, algorithm: 'SHA-256' })],
  [
    'Digest SHA-256, auth-int',
    () => digestClient({ ...AT_PROXY, algorithm: 'SHA-256', qop: 'auth-int' }),
  ],
  ['Digest SHA-512-256-sess', () => digestClient({ ...AT_PROXY, algorithm: 'SHA-512-256-sess' })],
  ['Digest MD5', () => digestClient({ ...AT_PROXY, algorithm: 'MD5' })],
  ['SCRAM-SHA-256', () => scramClient({ ...AT_PROXY, hash: 'SHA-256' })],
  ['SCRAM-SHA-1', () => scramClient({ ...AT_PROXY, hash: 'SHA-1' })],
];

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: ProxySite;
  let tls: ProxyProcess;
  beforeAll(async () => {
    const proxy = ({ resource }: { readonly resource: string }) => ({
      schemes: ['SCRAM-SHA-256', 'Digest', 'SCRAM-SHA-1', 'Basic'],
      digest: { algorithms: ['SHA-256', 'SHA-512-256-sess', 'MD5'], qop: ['auth', 'auth-int'] },
      destinations: [new URL(resource).host, origin.at],
    });
    site = await startProxySite(kind, proxy);
    const { certificate, key } = files;
    tls = await site.startBeside({ proxy: { ...proxy(site.pair), tls: { certificate, key } } });
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  const asked = (method: string, target: string, fields: HttpRequest['fields'] = []) => ({
    method,
    target,
    fields,
    content: NOTHING,
  });
  const withBasic = (person = ALICE) => [['Proxy-Authorization', basic(person)] as const];
  const home = () => `http://${origin.at}/`;
  const space = () => `${site.pair.resource}/schemes/digest/`;

  describe.each<[string, () => { send: Send } & Partial<AsyncDisposable>]>([
    ['HTTP/1.1', () => ({ send: overHttp(site.proxy) })],
    ['HTTP/2', () => overHttp2(site.pair.proxies[0] ?? '')],
    ['HTTP/2 with TLS', () => overHttp2(`https://localhost:${tls.port}`)],
  ])('%s', (_version, open) => {
    let connection: ReturnType<typeof open>;
    beforeAll(() => {
      connection = open();
    });
    afterAll(async () => connection[Symbol.asyncDispose]?.());

    test.each(CLIENTS)(
      '%s at the proxy and Digest at the origin: GET, POST, HEAD and CONNECT are admitted',
      async (_, make) => {
        const atProxy = make();
        const atOrigin = digestClient(WHO);
        const through: Send = (inner) => run(atProxy.exchange(inner), connection.send);
        const body = identity('Digest', 'digest');
        for (const [method, content, told] of [
          ['GET', '', body],
          ['POST', 'content', body],
          ['HEAD', '', ''],
        ] as const) {
          const request = { ...asked(method, space()), content: Buffer.from(content) };
          const answer = await run(atOrigin.exchange(request), through);
          expect([answer.status, String(answer.content)]).toEqual([200, told]);
        }

        const { host, hostname, port, pathname } = new URL(space());
        const { status, tunnel } = await through(asked('CONNECT', host));
        if (tunnel === undefined) throw new Error(`there is no tunnel, but ${status}`);
        const agent = new Agent();
        agent.createConnection = () => tunnel;
        const inside = overHttp({ host: hostname, port: Number(port), agent });
        const answer = await run(atOrigin.exchange(asked('GET', pathname)), inside);
        expect([answer.status, String(answer.content)]).toEqual([200, body]);
        tunnel.destroy();
      },
    );

    test('without credentials, and with unknown ones, the proxy answers 407 with all challenges', async () => {
      for (const fields of [[], withBasic(NOBODY), withBasic(WRONG)]) {
        for (const request of [asked('GET', home(), fields), asked('CONNECT', origin.at, fields)]) {
          const { status, fields: told } = await connection.send(request);
          expect(status).toBe(407);
          const challenges = valuesOf(told, 'Proxy-Authenticate').join(', ');
          expect(challenges).toMatch(/^SCRAM-SHA-256 .*Digest .*SCRAM-SHA-1 .*Basic /);
        }
      }
      expect(origin.take()).toEqual([]);
    });
  });

  describe('RFC 9110 section 11.7.2: the proxy authenticates each request on a kept connection', () => {
    /** Sends all requests on one connection. A test fails if the connection breaks. */
    function kept(): { send: Send } & Disposable {
      const agent = tunnelAgent(connect(site.proxy));
      const send = overHttp({ ...site.proxy, agent });
      return { send, [Symbol.dispose]: () => agent.destroy() };
    }

    test("Basic: with, without, with, wrong, and another person's credentials", async () => {
      using connection = kept();
      const statuses = [];
      for (const fields of [withBasic(), [], withBasic(), withBasic(WRONG), withBasic(JASON)]) {
        statuses.push((await connection.send(asked('GET', home(), fields))).status);
      }
      expect(statuses).toEqual([200, 407, 200, 407, 200]);
      expect(origin.take()).toHaveLength(3);
    });

    test.each(CLIENTS)('%s: with, without, replayed, and with credentials', async (_name, make) => {
      using connection = kept();
      const client = make();
      const request = asked('GET', home());
      let last: HttpRequest = request;
      const recorded: Send = (one) => connection.send((last = one));
      const statuses = [];
      for (let time = 0; time < 2; time += 1) {
        statuses.push((await run(client.exchange(request), recorded)).status);
        statuses.push((await connection.send(request)).status);
        statuses.push((await connection.send(last)).status);
      }
      expect(statuses).toEqual([200, 407, 407, 200, 407, 407]);
      expect(origin.take()).toHaveLength(2);
    });

    test('HTTP/2: many streams at once are authenticated one by one', async () => {
      await using connection = overHttp2(site.pair.proxies[0] ?? '');
      const who = [withBasic(), [], withBasic(WRONG), withBasic(JASON)];
      const requests = Array.from({ length: 10 }, () => who)
        .flat()
        .map((fields) => asked('GET', home(), fields));
      const answers = await Promise.all(requests.map(connection.send));
      const statuses = answers.map(({ status }) => status);
      expect(statuses).toEqual(Array.from({ length: 10 }, () => [200, 407, 407, 200]).flat());
      expect(origin.take()).toHaveLength(20);
    });
  });

  describe('RFC 9110 section 11.5: credentials of one protection space', () => {
    /** The last request of a Digest exchange. */
    async function recorded(at: 'proxy' | 'origin', request: HttpRequest, send: Send) {
      let last = request;
      const client = digestClient({ ...WHO, at });
      const { status } = await run(client.exchange(request), (one) => send((last = one)));
      expect(status).toBe(200);
      return last.fields.at(-1)?.[1] ?? '';
    }

    test("a proxy's credentials are refused at the origin, and an origin's at the proxy", async () => {
      const send = overHttp(site.proxy);
      const request = asked('GET', space());
      const forProxy = await recorded('proxy', asked('GET', home()), send);
      const atOrigin: HttpRequest['fields'] = [...withBasic(), ['Authorization', forProxy]];
      expect((await send({ ...request, fields: atOrigin })).status).toBe(401);

      const withProxy: Send = (inner) =>
        send({ ...inner, fields: [...withBasic(), ...inner.fields] });
      const forOrigin = await recorded('origin', request, withProxy);
      const fields = [['Proxy-Authorization', forOrigin] as const];
      expect((await send({ ...request, fields })).status).toBe(407);
    });

    test("credentials in the other server's field are ignored", async () => {
      const send = overHttp(site.proxy);
      const fields = [['Authorization', basic()] as const];
      expect((await send(asked('GET', home(), fields))).status).toBe(407);
      expect((await send(asked('CONNECT', origin.at, fields))).status).toBe(407);
      expect(origin.take()).toEqual([]);
    });

    test.each([
      ['two lines', [...withBasic(), ...withBasic()]],
      ['two lines, one of them empty', [...withBasic(), ['Proxy-Authorization', ''] as const]],
    ])('%s get 400', async (_what, fields) => {
      const send = overHttp(site.proxy);
      expect((await send(asked('GET', home(), fields))).status).toBe(400);
      expect((await send(asked('CONNECT', origin.at, fields))).status).toBe(400);
      expect(origin.take()).toEqual([]);
    });
  });
});
