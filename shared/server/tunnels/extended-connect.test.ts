import { once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { afterEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { send } from '../message/answer.ts';
import { listen, type ServerLimits } from '../listen/listen.ts';
import type { AnyHandler } from '../message/message.ts';
import { upgradeOf } from './upgrade.ts';
import { open } from '../wire/wire.fixture.ts';

const clients: ClientHttp2Session[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});

const echo: AnyHandler = (request, response) => {
  const upgrade = request.url === '/refused' ? undefined : upgradeOf(request);
  if (upgrade === undefined) {
    return send(request, response, { status: 403, fields: {}, body: `no ${request.method}` });
  }
  response.setHeader('X-Before', request.method ?? '');
  const side = upgrade.open({ 'X-Opened': ['yes', 'indeed'] });
  side.on('error', () => {}).pipe(side);
  return undefined;
};

/** Starts a client that has received the server's settings. */
async function start(
  handler: AnyHandler = echo,
  { limits = {}, sockets = true }: { limits?: Partial<ServerLimits>; sockets?: boolean } = {},
) {
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    http2: { handler },
    webSockets: sockets,
    log: silentLog,
    limits,
  });
  open.push(listening);
  const client = http2.connect(`http://127.0.0.1:${listening.port}`);
  clients.push(client);
  const [settings] = await once(client, 'remoteSettings');
  return { client, settings, listening };
}

const CONNECT = {
  ':method': 'CONNECT',
  ':protocol': 'websocket',
  ':path': '/socket',
  ':scheme': 'http',
};

const request = (client: ClientHttp2Session, fields: object = {}) =>
  client.request({ ...CONNECT, ...fields }, { endStream: false });

async function statusOf(stream: ClientHttp2Stream): Promise<number | undefined> {
  const [head] = await once(stream, 'response');
  return head[':status'];
}

async function textOf(stream: ClientHttp2Stream): Promise<string> {
  let text = '';
  for await (const piece of stream) text += String(piece);
  return text;
}

describe('RFC 8441', () => {
  test('section 3: a listener sends the setting only if it has WebSockets', async () => {
    expect((await start()).settings.enableConnectProtocol).toBe(true);
    expect((await start(echo, { sockets: false })).settings.enableConnectProtocol).toBe(false);
  });

  test('section 4: without the setting an extended CONNECT is malformed', async () => {
    const { client } = await start(echo, { sockets: false });
    // node:http2 would not send the request without this setting.
    Object.defineProperty(client, 'remoteSettings', { value: { enableConnectProtocol: true } });
    const stream = request(client);
    await new Promise((resolve) => stream.on('error', () => {}).once('close', resolve));
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_PROTOCOL_ERROR);
  });

  test('section 5: 200 with the fields of the handler, then data both ways until both have ended', async () => {
    const { client } = await start();
    const stream = request(client);
    const [head] = await once(stream, 'response');
    expect(head).toMatchObject({ ':status': 200, 'x-before': 'GET', 'x-opened': 'yes, indeed' });
    for (const field of ['connection', 'upgrade', 'sec-websocket-accept'])
      expect(head[field]).toBeUndefined();
    stream.end('hello');
    expect(await textOf(stream)).toBe('hello');
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
  });

  test('section 4: other streams of the connection are served beside the tunnel', async () => {
    const { client } = await start();
    const [one, two] = [request(client), request(client)];
    const plain = client.request({ ':path': '/' });
    expect(await Promise.all([one, two, plain].map(statusOf))).toEqual([200, 200, 403]);
    one.end('first');
    two.end('second');
    expect(await Promise.all([one, two].map(textOf))).toEqual(['first', 'second']);
  });

  test('an answer other than 200 opens no tunnel', async () => {
    const { client } = await start();
    const stream = request(client, { ':path': '/refused' });
    expect(await statusOf(stream)).toBe(403);
    expect(await textOf(stream)).toBe('no GET');
  });

  test.each([
    ['RFC 9110 section 15.6.2: an unknown protocol', { ':protocol': 'connect-udp' }, 501],
    ['RFC 9110 section 9.3.6: CONNECT with content', { 'content-length': '5' }, 400],
    ['a request with too many fields', { 'x-many': Array.from({ length: 101 }, String) }, 431],
  ])('%s is refused', async (_, fields, status) => {
    const { client } = await start(echo, { limits: { fields: 100 } });
    expect(await statusOf(request(client, fields))).toBe(status);
  });

  test('RFC 9110 section 9.3.6: CONNECT without a protocol asks for a tunnel, and is 501', async () => {
    const { client } = await start();
    const stream = client.request(
      { ':method': 'CONNECT', ':authority': 'a.example:80' },
      { endStream: false },
    );
    expect(await statusOf(stream)).toBe(501);
  });

  test('a handler that fails gives 500', async () => {
    const { client } = await start(() => {
      throw new Error('defect');
    });
    expect(await statusOf(request(client))).toBe(500);
  });

  test('an open tunnel keeps an idle connection open until the server ends', async () => {
    const { client, listening } = await start(echo, { limits: { idleTimeout: 20 } });
    const stream = request(client);
    expect(await statusOf(stream)).toBe(200);
    const later = Date.now() + 100;
    while (Date.now() < later) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(client.destroyed).toBe(false);
    stream.on('error', () => {});
    const closed = once(stream, 'close');
    await listening.close(10);
    await closed;
  });
});
