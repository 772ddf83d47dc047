import { once } from 'node:events';
import http2 from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SERVED } from '#shared/http/methods.ts';
import { rawHttp, statusOf } from '../parts/raw-http.ts';
import { cases, type Furniture } from './malformed.fixture.ts';
import type { Lines, Shape } from './mistakes.fixture.ts';
import { assertAlive, assertSound, startTreeServers, stateOf } from './trees.fixture.ts';
import type { Tenant, TreeServers } from './trees.fixture.ts';

/**
 * Invalid requests of every method, over both versions: they change nothing, and the processes keep
 * running.
 */
type Send = (method: string, shape: Shape) => Promise<number>;

const parts = new AsyncDisposableStack();
let servers: TreeServers;
beforeAll(async () => {
  servers = parts.use(await startTreeServers('sqlite'));
});
afterAll(() => parts.disposeAsync());

const linesOf = (fields: Lines) =>
  Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );

function framed(fields: Lines, content: string): Lines {
  return { ...(content !== '' && { 'Content-Length': `${content.length}` }), ...fields };
}

/** Sends over HTTP/1.1. One character of content is one octet. */
const overHttp1 =
  (): Send =>
  async (method, { path = '', fields = {}, content = '' }) => {
    const lines = linesOf({ Host: 'localhost', Connection: 'close', ...framed(fields, content) });
    const head = [`${method} ${path} HTTP/1.1`, ...lines.map((line) => line.join(': '))];
    const bytes = `${head.join('\r\n')}\r\n\r\n${content}`;
    return statusOf(await rawHttp(servers.pair.resources[0]?.url ?? '', bytes));
  };

/**
 * Without `strictSingleValueFields: false` the client refuses to repeat a field. Node's types know this
 * option for servers only.
 */
const LENIENT = { settings: { enablePush: false }, strictSingleValueFields: false };

function connectHttp2(): ClientHttp2Session {
  const session = http2.connect(servers.pair.resources[1]?.url ?? '', LENIENT);
  parts.defer(() => session.destroy());
  return session;
}

const overHttp2 =
  (session: ClientHttp2Session): Send =>
  async (method, { path = '', fields = {}, content = '' }) => {
    const head = { ':method': method, ':path': path, ':scheme': 'http', ':authority': 'localhost' };
    const lines = linesOf({ ...head, ...framed(fields, content) });
    const flat = lines.flatMap(([name, value]) => [name.toLowerCase(), value]);
    const stream = session.request(flat, { endStream: false });
    // The server may reset a refused request before its content ends (RFC 9113 section 8.1).
    stream.on('error', () => {});
    stream.write(Buffer.from(content, 'latin1'));
    // If Content-Length announces more than was sent, an ended stream would be a second mistake.
    if (fields['Content-Length'] === undefined) stream.end();
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
    stream.close();
    return Number(headers[':status']);
  };

const LOCKINFO =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';

async function furnish(me: Tenant): Promise<Furniture> {
  const put = (path: string, type: string, body: string) =>
    me.ask(0, 'PUT', path, { headers: { 'Content-Type': type }, body });
  for (const name of ['doc', 'doc2', 'doc3', 'doc4', 'locked']) {
    await put(name, 'text/plain', 'content');
  }
  for (const name of ['json', 'locked.json']) await put(name, 'application/json', '{"a":1}');
  for (const name of ['col', 'closed']) {
    await me.ask(0, 'MKCOL', name);
    await put(`${name}/in`, 'text/plain', 'content');
  }
  const lock = async (path: string) => {
    const headers = { 'Content-Type': 'application/xml' };
    const reply = await me.ask(0, 'LOCK', path, { headers, body: LOCKINFO });
    return reply.headers.get('Lock-Token') ?? '';
  };
  await lock('locked.json');
  await lock('closed/');
  return { token: await lock('owned'), another: await lock('locked') };
}

describe.each(['HTTP/1.1', 'HTTP/2'])('%s', (version) => {
  let me: Tenant;
  let furniture: Furniture;
  let send: Send;
  beforeAll(async () => {
    me = await servers.person(version === 'HTTP/2' ? 'second' : 'first');
    furniture = await furnish(me);
    send = version === 'HTTP/2' ? overHttp2(connectHttp2()) : overHttp1();
  });
  const as = (method: string, right: Shape, { fields, ...wrong }: Shape = {}) =>
    send(method, {
      ...right,
      ...wrong,
      fields: { ...Object.fromEntries([me.credentials]), ...right.fields, ...fields },
    });

  test.each([...SERVED])('%s: each mistake gets the 4xx that its RFC names', async (method) => {
    const found = cases(furniture).filter((one) => one.method === method);
    expect(found).toHaveLength(1);
    const before = await stateOf(servers, me.tree);
    for (const { right, mistakes } of found) {
      expect(mistakes.length).toBeGreaterThanOrEqual(8);
      const answers = [];
      for (const [, what, wrong] of mistakes) {
        answers.push([await as(method, right, wrong), what]);
      }
      expect(answers).toEqual(mistakes.map(([status, what]) => [status, what]));
    }
    expect(await stateOf(servers, me.tree)).toEqual(before);
  });

  test('each request without a mistake gets 2xx', async () => {
    for (const { method, right } of cases(furniture)) {
      const status = await as(method, right);
      expect([method, Math.floor(status / 100)]).toEqual([method, 2]);
    }
  });

  test('the tree is sound, both processes still run, and no logged error is a defect', async () => {
    await assertSound(servers, me.tree);
    await assertAlive(servers);
  });
});
