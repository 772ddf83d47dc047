import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { acceptOf } from '#shared/http/web-socket.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { type Client, type Flow, startFlowOn, STORE_KINDS } from './flow.ts';

const LONG = Buffer.alloc(32 * 1024 * 1024, 'x');
const SCOPES = { safe: ['documents:read'], unsafe: ['documents:write'] };

/** An application with endless answers and with sockets that stay open. */
async function startApplication() {
  const uploads = new Set<string | undefined>();
  const server = http.createServer((request, response) => {
    uploads.add(request.url);
    request.resume();
    if (request.method === 'GET') response.write('begun');
  });
  server.on('upgrade', ({ headers }, socket: Socket) => {
    const accept = acceptOf(headers['sec-websocket-key'] ?? '');
    const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}`;
    socket.on('error', () => {}).resume();
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n\r\n`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    uploads,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface UnderWay {
  isOpen(): boolean;
  /** Resolves to how the request ended. */
  over(): Promise<'cut' | 'whole'>;
}

type Tokens = Readonly<Record<'app' | 'files', string>>;

describe.each(STORE_KINDS)('on %s: a revocation by another process', (kind) => {
  const parts = new AsyncDisposableStack();
  let application: Awaited<ReturnType<typeof startApplication>>;
  let flow: Flow;
  let client: Client;
  let other: Tokens;

  beforeAll(async () => {
    application = parts.use(await startApplication());
    const { url } = application;
    flow = parts.use(
      await startFlowOn(kind, {
        settings: ({ resource }) => ({
          spaces: [
            { url: `${resource}/app/`, realm: 'app', serves: 'upstream', upstream: { url } },
            { url: `${resource}/files/`, realm: 'files', serves: 'documents' },
          ].map((space) => Object.assign(space, { schemes: ['Bearer'], scopes: SCOPES })),
        }),
      }),
    );
    client = await flow.pair.addClient();
    other = await tokens({ client_id: client.id });
    await put(other.files, 'long.bin', LONG);
  });
  afterAll(() => parts.disposeAsync());

  async function tokens(claims: Parameters<Flow['forge']>[0]): Promise<Tokens> {
    const of = (name: string) => flow.forge({ aud: `${flow.pair.resource}/${name}/`, ...claims });
    return { app: await of('app'), files: await of('files') };
  }

  function ask(method: string, path: string, token: string, fields: object = {}): ClientRequest {
    const headers = { authorization: `Bearer ${token}`, ...fields };
    const url = flow.pair.resource + path;
    return http.request(url, { method, headers, agent: false }).on('error', () => {});
  }

  async function put(token: string, name: string, content: Buffer): Promise<void> {
    const request = ask('PUT', `/files/${name}`, token).end(content);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(201);
  }

  async function answerTo(request: ClientRequest): Promise<UnderWay> {
    const [answer] = (await once(request.end(), 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    answer.on('error', () => {});
    await once(answer, 'data');
    answer.pause();
    const closed = new Promise((resolve) => answer.once('close', resolve));
    return {
      isOpen: () => !answer.destroyed,
      async over() {
        answer.resume();
        await closed;
        return answer.complete ? 'whole' : 'cut';
      },
    };
  }

  async function upload(request: ClientRequest, begun: () => Promise<unknown>): Promise<UnderWay> {
    const over = new Promise<'cut' | 'whole'>((resolve) => {
      request.once('response', () => resolve('whole')).once('close', () => resolve('cut'));
    });
    request.write('half');
    await begun();
    return { isOpen: () => !request.destroyed, over: () => over };
  }

  const HANDSHAKE = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };

  /** One request of each kind. */
  function all({ app, files }: Tokens): Promise<UnderWay[]> {
    const path = `/upload-${randomUUID()}`;
    const continuing = ask('PUT', `/files${path}`, files, { expect: '100-continue' });
    const continued = once(continuing, 'continue');
    continuing.flushHeaders();
    return Promise.all([
      answerTo(ask('GET', '/files/long.bin', files)),
      answerTo(ask('GET', '/app/stream', app)),
      upload(ask('PUT', `/app${path}`, app), () =>
        eventually(() => expect(application.uploads).toContain(path)),
      ),
      upload(continuing, () => continued),
      once(ask('GET', '/app/socket', app, HANDSHAKE).end(), 'upgrade').then(([, given]) => {
        const socket = given as Socket;
        const closed = new Promise((resolve) =>
          socket.on('error', () => {}).once('close', resolve),
        );
        return { isOpen: () => !socket.closed, over: () => closed.then(() => 'cut' as const) };
      }),
    ]);
  }

  const revoke = (how: 'token' | 'grant', { app, files }: Tokens) =>
    Promise.all(
      [app, files].map((token) => {
        const { jti, grant_id: grant } = decodeJwt(token);
        return flow.stores.revocations.revoke(
          how,
          String(how === 'token' ? jti : grant),
          flow.until(),
        );
      }),
    );

  const PERSON = { sub: 'alice', sub_gen: 0 };

  test.each<[string, (id: string) => object, (all: Tokens, id: string) => Promise<unknown>]>([
    ['its tokens', () => ({}), (ended) => revoke('token', ended)],
    ['its grant', () => ({ ...PERSON, grant_id: randomUUID() }), (ended) => revoke('grant', ended)],
    [
      'all of its person',
      () => PERSON,
      () => flow.stores.revocations.raise('person', 'alice', flow.until()),
    ],
    [
      'its client, on the command line',
      () => ({}),
      (_, id) => flow.pair.cli('client', 'remove', id),
    ],
  ])("cuts off current requests with %s, and no other client's", async (_, claims, end) => {
    const { id } = await flow.pair.addClient();
    const ended = await tokens({ client_id: id, ...claims(id) });
    const [mine, theirs] = [await all(ended), await all(other)];
    await end(ended, id);
    // Until the other requests are over, this one is not read.
    const [slow, ...rest] = mine;
    expect(new Set(await Promise.all(rest.map((one) => one.over())))).toEqual(new Set(['cut']));
    expect(await slow?.over()).toBe('cut');
    expect(theirs.map((one) => one.isOpen())).toEqual(theirs.map(() => true));
    expect(await theirs[0]?.over()).toBe('whole');
  });

  test('RFC 7009 section 2: cuts off requests with a token that its client revokes at the authorization server', async () => {
    const { pair } = flow;
    const resource = `${pair.resource}/app/`;
    const form = { grant_type: 'client_credentials', resource };
    const { body } = await pair.post('/token', form, client);
    const token = String(body['access_token']);
    const stream = await answerTo(ask('GET', '/app/stream', token));
    await pair.post('/token/revocation', { token }, client);
    expect(await stream.over()).toBe('cut');
  });
});
