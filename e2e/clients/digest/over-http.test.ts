import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { get } from './answers.fixture.ts';
import { run, valuesOf } from './exchange.ts';
import type { Exchange, HttpRequest } from './exchange.ts';
import { overHttp, tunnelAgent } from './over-http.ts';

const HOST = '127.0.0.1';

async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { server, place: { host: HOST, port }, [Symbol.dispose]: close };
}

test('sends fields unchanged, even duplicates, and returns content, fields and trailer', async () => {
  using echo = await listening((request, response) => {
    void buffer(request).then((content) => {
      response.writeHead(201, { Trailer: 'Authentication-Info' });
      response.write(JSON.stringify([request.method, request.url, request.rawHeaders]));
      response.addTrailers({ 'Authentication-Info': 'a=1' });
      response.end(content);
    });
  });
  const answer = await overHttp(echo.place)({
    method: 'PUT',
    target: 'http://origin.example:8080/x?y',
    fields: [
      ['Authorization', 'Basic b25l'],
      ['Authorization', 'Basic dHdv'],
      ['TE', 'trailers'],
    ],
    content: Buffer.from('abc'),
  });
  expect(answer.status).toBe(201);
  expect(valuesOf(answer.trailers, 'authentication-info')).toEqual(['a=1']);
  const [method, target, raw] = JSON.parse(answer.content.toString().slice(0, -3)) as [
    string,
    string,
    string[],
  ];
  expect([method, target]).toEqual(['PUT', 'http://origin.example:8080/x?y']);
  expect(raw.filter((text) => text.startsWith('Basic'))).toEqual(['Basic b25l', 'Basic dHdv']);
  expect(raw[raw.indexOf('Host') + 1]).toBe('origin.example:8080');
  expect(raw[raw.indexOf('Content-Length') + 1]).toBe('3');
  expect(answer.content.toString().endsWith('abc')).toBe(true);
});

test('CONNECT returns a refusal as an answer, and a tunnel for several requests', async () => {
  using origin = await listening((request, response) => response.end(request.url));
  using proxy = await listening((_request, response) => response.end());
  proxy.server.on('connect', (request, socket, first) => {
    if (request.headers['proxy-authorization'] === undefined) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno');
      return;
    }
    const onward = connect(origin.place.port, HOST);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    if (first.length > 0) onward.write(first);
    socket.pipe(onward).pipe(socket);
    socket.on('error', () => onward.destroy());
  });
  const send = overHttp(proxy.place);
  const target = `${HOST}:${origin.place.port}`;
  const request: HttpRequest = { ...get(target), method: 'CONNECT' };
  expect(await send(request)).toMatchObject({ status: 407 });
  const { tunnel } = await send({ ...request, fields: [['Proxy-Authorization', 'Basic YTpi']] });
  if (tunnel === undefined) throw new Error('no tunnel');
  const inside = overHttp({ ...origin.place, agent: tunnelAgent(tunnel) });
  for (const path of ['/one', '/two']) {
    expect(String((await inside(get(path))).content)).toBe(path);
  }
  tunnel.destroy();
});

test('rejects if the connection breaks during an answer', async () => {
  using broken = await listening((_request, response) => {
    response.writeHead(200, { 'Content-Length': '10' });
    response.write('abc', () => response.destroy());
  });
  await expect(overHttp(broken.place)(get('/'))).rejects.toThrow();
});

test('run nests one exchange within another', async () => {
  async function* adding(name: string, request: HttpRequest): Exchange {
    return yield { ...request, fields: [...request.fields, [name, 'x'] as const] };
  }
  const seen: HttpRequest[] = [];
  const answer = { status: 200, fields: [], content: Buffer.alloc(0), trailers: [] };
  const last = await run(adding('Authorization', get('/')), (inner) =>
    run(adding('Proxy-Authorization', inner), (request) => {
      seen.push(request);
      return Promise.resolve(answer);
    }),
  );
  expect(last).toBe(answer);
  expect(seen.map(({ fields }) => fields.map(([name]) => name))).toEqual([
    ['Authorization', 'Proxy-Authorization'],
  ]);
});
