import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';

/** The paths of streams that are open at the application and send nothing after their beginning. */
const open = new Set<string>();
let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  application = await startApplication(({ url = '' }, response) => {
    open.add(url);
    response.once('close', () => open.delete(url));
    response.writeHead(200, { 'Content-Type': url.slice(1).replace('.', '/') }).flushHeaders();
  });
  gateway = await startGateway({ app: { schemes: [], upstream: { url: application.url } } });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await application?.[Symbol.asyncDispose]();
});

/** Requests a stream. Resolves to the connection once the answer has begun. */
async function begun(path: string) {
  const socket = connect({ port: gateway.listening.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.write(`GET /app/${path} HTTP/1.1\r\nHost: rs.example\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(String(head)).toMatch(/^HTTP\/1.1 200 /);
  return socket.resume();
}

test("HTML standard, section 9.2: the application's connection is closed when the client of a silent event stream disconnects", async () => {
  const other = await begun('text.plain');
  const events = await begun('text.event-stream');
  expect(open.size).toBe(2);
  other.end();
  events.end();
  await eventually(() => expect([...open]).toEqual(['/text.plain']));
  other.destroy();
});
