/**
 * `/verify` checks a proof: HAProxy sends the exporter value, and a proxy behind HAProxy asks `/verify`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyOf } from '../../attacks/concealed.fixture.ts';
import { exportField, withProof } from '../../clients/concealed/concealed-client.ts';
import type { ConcealedKey } from '../../clients/concealed/keys.ts';
import { type BoundConnection, EXPORTED, overTls1 } from '../../clients/concealed/over-tls.ts';
import type { Field, HttpRequest } from '../../clients/digest/exchange.ts';
import { freePort } from '../../parts/free-port.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { type Pair, startPair } from '../../pair/pair.ts';
import { startCaddy, startNginx } from '../forward-auth/proxies.ts';
import { makeCertificate } from '../proxy-site.ts';
import { startHaproxy } from './fronts.ts';

const GET: HttpRequest = { method: 'GET', target: '/a', fields: [], content: Buffer.alloc(0) };

describe.each([
  { name: 'nginx', start: startNginx },
  { name: 'Caddy', start: startCaddy },
])('RFC 9729 section 6.2: HAProxy before $name', ({ start }) => {
  const parts = new AsyncDisposableStack();
  /** The origins of HAProxy, and of the proxy that clients reach without HAProxy. */
  const origins = { outside: '', bare: '' };
  let key: ConcealedKey;
  let pair: Pair;

  beforeAll(async () => {
    const { outside } = Object.assign(origins, {
      outside: `https://localhost:${await freePort()}`,
      bare: `http://127.0.0.1:${await freePort()}`,
    });
    const space = (realm: 'outside' | 'bare') => ({
      url: `${origins[realm]}/`,
      realm,
      schemes: ['Concealed'],
      concealed: { frontend: true },
      serves: 'verify',
    });
    pair = parts.use(
      await startPair({
        settings: {
          trustedProxies: ['127.0.0.1/32'],
          spaces: [space('outside'), space('bare')],
        },
      }),
    );
    await pair.addPerson('alice');
    key = await keyOf(pair, 'alice');
    const { data: folder, resource } = pair;
    const application = await startApplication();
    const startProxy = async (origin: string, before: { outside?: string }) => {
      const { path } = parts.use(await temporaryFolder());
      parts.use(await start({ folder: path, resource, application, origin, ...before }));
    };
    const inside = `http://127.0.0.1:${await freePort()}`;
    await startProxy(inside, { outside });
    await startProxy(origins.bare, {});
    const certificate = parts.use(await makeCertificate());
    parts.use(await startHaproxy({ folder, origin: outside, upstream: inside, certificate }));
  });
  afterAll(() => parts.disposeAsync());

  /** Answers with the identity fields that it received. */
  async function startApplication(): Promise<string> {
    const server = createServer(({ headers }, response) => {
      response.end(`hello ${String(headers['x-auth-name'])}`);
    });
    parts.defer(() => {
      server.close();
      server.closeAllConnections();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const open = () =>
    overTls1('localhost', Number(new URL(origins.outside).port), { rejectUnauthorized: false });

  async function answered(connection: BoundConnection, request: HttpRequest, more: Field[] = []) {
    const fields = [...request.fields, ...more];
    const { status, content } = await connection.send({ ...request, fields });
    return status === 200 ? content.toString() : status;
  }

  test('a client with the key is admitted, and the proof of another connection is refused', async () => {
    await using mine = await open();
    await using other = await open();
    let exported: Buffer = Buffer.alloc(0);
    const exporter = (context: Buffer) => (exported = other.exporter(context));
    const stolen = withProof(GET, { key, exporter, origin: origins.outside });
    expect(await answered(other, stolen)).toBe('hello alice');
    expect(await answered(mine, GET)).toBe(403);
    expect(await answered(mine, stolen)).toBe(403);
    expect(await answered(mine, stolen, [exportField(exported)])).toBe(403);
  });

  test("without HAProxy a client's own field is removed", async () => {
    const exported = Buffer.alloc(EXPORTED, 1);
    const made = withProof(GET, { key, exporter: () => exported, origin: origins.bare });
    const headers = Object.fromEntries([...made.fields, exportField(exported)]);
    expect((await fetch(`${origins.bare}/a`, { headers })).status).toBe(403);
    const { protocol, host } = new URL(origins.bare);
    const told = {
      ...headers,
      'x-forwarded-method': 'GET',
      'x-forwarded-uri': '/a',
      'x-forwarded-proto': protocol.slice(0, -1),
      'x-forwarded-host': host,
    };
    expect((await fetch(`${pair.resource}/verify`, { headers: told })).status).toBe(204);
  });
});
