import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { valuesOf } from '../clients/digest/exchange.ts';
import type { HttpRequest, HttpResponse, Send } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { ONE_STORE } from '../flows/flow.ts';
import { until } from '../parts/process.ts';
import { overHttp2 } from '../interop/over-http2.ts';
import type { OverHttp2 } from '../interop/over-http2.ts';
import { basic, startOrigin, startProxySite, startTcp } from '../interop/proxy-site.ts';
import type { Behind, Origin, ProxySite } from '../interop/proxy-site.ts';

/** How many tunnels the forward proxy keeps for one account, and for how long. */
const NOTHING = Buffer.alloc(0);
const BASIC = ['Proxy-Authorization', basic()] as const;

const TUNNELS = 8;
/** Seconds until an idle tunnel is closed. */
const IDLE = 2;

const asked = (method: string, target: string, ...fields: HttpRequest['fields']): HttpRequest => ({
  method,
  target,
  fields,
  content: NOTHING,
});

const parts = new AsyncDisposableStack();
let origin: Origin;
let echo: Behind;
let silent: Behind;
beforeAll(async () => {
  origin = parts.use(await startOrigin());
  echo = parts.use(await startTcp((socket) => void socket.pipe(socket)));
  silent = parts.use(await startTcp((socket) => void socket.resume()));
});
afterAll(async () => parts.disposeAsync());

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: ProxySite;
  let send: Send;
  let http2: OverHttp2;
  beforeAll(async () => {
    const destinations = [origin.at, echo.at, silent.at, '127.0.0.1:1'];
    site = await startProxySite(kind, () => ({ destinations, tunnels: 4 * TUNNELS, idle: IDLE }));
    send = overHttp(site.proxy);
    http2 = overHttp2(site.pair.proxies[0] ?? '');
  });
  afterAll(async () => {
    await http2[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const tunnels = new Set<Duplex>();
  afterEach(() => {
    for (const tunnel of tunnels) tunnel.destroy();
    tunnels.clear();
  });

  /** Asks for a tunnel, and keeps it open until the end of the test. */
  async function ask(to: Behind, through = send): Promise<HttpResponse> {
    const answer = await through(asked('CONNECT', to.at, BASIC));
    if (answer.tunnel) tunnels.add(answer.tunnel.on('error', () => undefined));
    return answer;
  }
  /** Opens a tunnel. Tunnels of the test before may still be closing. */
  async function open(to: Behind, through = send): Promise<Duplex> {
    let tunnel: Duplex | undefined;
    await until(async () => {
      ({ tunnel } = await ask(to, through));
      return tunnel !== undefined;
    });
    if (tunnel === undefined) throw new Error('there is none after all');
    return tunnel;
  }
  const granted = async (through = send) => (await ask(echo, through)).status === 200;

  describe('RFC 9110 section 15.6.4: the number of tunnels', () => {
    test('beyond the configured number a tunnel gets 503 over both versions, and other requests are served', async () => {
      for (let count = 0; count < TUNNELS; count += 1) {
        await open(echo, count % 2 === 0 ? send : http2.send);
      }
      for (const through of [send, http2.send]) {
        const refused = await ask(echo, through);
        expect(refused.status).toBe(503);
        expect(valuesOf(refused.fields, 'retry-after')).toEqual(['1']);
        const unknown = await through(asked('CONNECT', echo.at));
        expect(unknown.status).toBe(407);
        const request = await through(asked('GET', `http://${origin.at}/`, BASIC));
        expect([request.status, String(request.content)]).toEqual([200, 'hello']);
      }
    });

    test.each([
      ['the client ends it', (tunnel: Duplex) => void tunnel.end()],
      ['the client breaks it off', (tunnel: Duplex) => void tunnel.destroy()],
      ['the destination breaks it off', () => breakOff(echo)],
    ])('the number is free again after a tunnel ended because %s', async (_how, end) => {
      for (let count = 0; count < TUNNELS; count += 1) await open(echo);
      expect(await granted()).toBe(false);
      for (const tunnel of tunnels) end(tunnel.resume());
      tunnels.clear();
      for (let count = 0; count < TUNNELS; count += 1) await open(echo);
      expect(await granted()).toBe(false);
    });

    test('failed attempts do not use up the number', async () => {
      await until(() => echo.sockets.size === 0);
      for (let count = 0; count < 2 * TUNNELS; count += 1) {
        const statuses = [];
        for (const request of [
          asked('CONNECT', 'nowhere', BASIC),
          asked('CONNECT', '10.0.0.1:80', BASIC),
          asked('CONNECT', echo.at),
          asked('CONNECT', '127.0.0.1:1', BASIC),
        ]) {
          statuses.push((await send(request)).status);
        }
        expect(statuses).toEqual([400, 403, 407, 502]);
      }
      for (let count = 0; count < TUNNELS; count += 1) await open(echo);
    });
  });

  test('an idle tunnel is closed, half-open or not, and a busy tunnel stays open', async () => {
    await until(() => echo.sockets.size === 0);
    const log = () => site.pair.resources[0]?.log ?? '';
    const ends = () => log().split('"end":"idle"').length - 1;
    const before = ends();

    const fromBegin = [await open(silent), await open(silent, http2.send)];
    const clientDone = [await open(silent), await open(silent, http2.send)];
    for (const tunnel of clientDone) tunnel.end('last words');
    // Over HTTP/1.1 Node's own client would close both sides.
    const destinationDone = await open(echo, http2.send);
    for (const socket of echo.sockets) socket.end();
    const busy = await open(echo);

    const quiet = [...fromBegin, ...clientDone, destinationDone];
    for (const tunnel of quiet) tunnel.resume();
    do {
      busy.write('x');
      expect(String((await once(busy, 'data'))[0])).toBe('x');
      await sleep(20);
    } while (quiet.some(({ closed }) => !closed));
    await until(() => ends() === before + quiet.length);
  });
});

/** Resets all connections of a server. */
function breakOff({ sockets }: Behind): void {
  for (const socket of sockets) socket.resetAndDestroy();
}
