import { once } from 'node:events';
import http2, {
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { jsonLog } from '#shared/base/log.ts';
import { type Listening, listen } from '#shared/server/listen/listen.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

const MERGE_PATCH = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const MEBIBYTE = 1024 * 1024;
/** One MiB that takes tens of MiB once it is parsed. */
const LARGEST =
  `{"a":[${'{},'.repeat(99_990)}0]${' '.repeat(MEBIBYTE)}`.slice(0, MEBIBYTE - 1) + '}';

let rs: TestResourceServer;
let server: Listening;
/** Reads of the tree by patches. None continues before `release`. */
let looks = 0;
let held: PromiseWithResolvers<void> | undefined;
beforeAll(async () => {
  rs = await startResourceServer({ documents: { maxBytes: 20 * MEBIBYTE } }, (stores) => ({
    ...stores,
    trees: {
      ...stores.trees,
      async look(tree, paths) {
        looks += 1;
        await held?.promise;
        return stores.trees.look(tree, paths);
      },
    },
  }));
  const { handler, http2: both } = rs.server;
  const log = jsonLog(() => {}, systemClock, 'test');
  server = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    ...(both && { http2: { handler: both } }),
    log,
  });
});
afterAll(async () => {
  await server.close(0);
  await rs[Symbol.asyncDispose]();
});
beforeEach(() => {
  looks = 0;
  held = undefined;
});

type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

/** Begins a patch as this client over HTTP/2, without its content. */
function begin(session: ClientHttp2Session, client: string, path: string) {
  const scope = 'documents:read documents:write';
  const token = rs.token(scope, { sub: client, client_id: client });
  const stream = session.request(
    {
      ':method': 'PATCH',
      ':path': path,
      'content-type': MERGE_PATCH,
      authorization: `Bearer ${token}`,
    },
    { endStream: false },
  );
  const answered = once(stream, 'response').then(([headers]) => headers as Headers);
  return { stream: stream.resume(), answered };
}

/** Resolves to the status of a small patch. */
async function tryPatch(session: ClientHttp2Session, client: string, path: string) {
  const { stream, answered } = begin(session, client, path);
  stream.end('{}');
  return (await answered)[':status'];
}

type Begun = ReturnType<typeof begin>;

/** Resolves to the first `count` answers, and to the patches without an answer. */
async function firstAnswers(patches: readonly Begun[], count: number) {
  const open = new Set(patches);
  const answers: Headers[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  for (const one of patches) {
    one.answered.then((headers) => {
      if (answers.length === count) return;
      open.delete(one);
      answers.push(headers);
      if (answers.length === count) resolve();
    }, reject);
  }
  await promise;
  return { answers, open: [...open] };
}

const statusesOf = (answers: readonly Headers[]) => answers.map((headers) => headers[':status']);

describe('RFC 9110 section 15.6.4: 503 for too many patches at a time', () => {
  let session: ClientHttp2Session;
  beforeEach(async () => {
    session = http2.connect(`http://127.0.0.1:${server.port}`);
    await once(session, 'connect');
  });
  afterEach(() => session.destroy());

  test('one client with ninety-nine patches on one connection has eight accepted', async () => {
    const patches = Array.from({ length: 99 }, (_, n) =>
      begin(session, 'one', `/documents/a-${n}`),
    );
    const { answers, open } = await firstAnswers(patches, 91);
    expect(statusesOf(answers)).toStrictEqual(Array(91).fill(503));
    expect(new Set(answers.map((headers) => headers['retry-after']))).toStrictEqual(new Set(['1']));
    expect(await tryPatch(session, 'other', '/documents/a-other')).toBe(201);
    for (const [n, { stream }] of open.entries()) stream.end(n === 0 ? LARGEST : '{}');
    const taken = await firstAnswers(open, 8);
    expect(statusesOf(taken.answers)).toStrictEqual(Array(8).fill(201));
    expect(await tryPatch(session, 'one', '/documents/a-again')).toBe(201);
  });

  test('five clients each get a quarter of the places for patches that the others leave, and one patch is applied at a time', async () => {
    held = Promise.withResolvers();
    const patches = Array.from({ length: 40 }, (_, n) => {
      const begun = begin(session, `client-${n % 5}`, `/documents/b-${n}`);
      begun.stream.end('{"a":1}');
      return begun;
    });
    const { answers, open } = await firstAnswers(patches, 20);
    expect(statusesOf(answers)).toStrictEqual(Array(20).fill(503));
    expect(looks).toBe(1);
    held.resolve();
    const waiting = await firstAnswers(open, 20);
    expect(statusesOf(waiting.answers)).toStrictEqual(Array(20).fill(201));
  });

  test('a client that leaves frees the places of its patches', async () => {
    const leaving = Array.from({ length: 8 }, (_, n) =>
      begin(session, 'gone', `/documents/c-${n}`),
    );
    for (const { stream } of leaving) stream.write('{"a":');
    expect(await tryPatch(session, 'gone', '/documents/c-8')).toBe(503);
    session.destroy();
    session = http2.connect(`http://127.0.0.1:${server.port}`);
    let status: number | undefined;
    do status = await tryPatch(session, 'gone', '/documents/c-9');
    while (status === 503);
    expect(status).toBe(201);
  });
});

describe('RFC 5789 section 2.2: a patch that is too large', () => {
  let count = 0;
  async function patched(content: string, type: string, body: string): Promise<number> {
    count += 1;
    const path = `/documents/large-${count}`;
    const headers = { 'Content-Type': 'application/json' };
    expect((await rs.as('PUT', path, { headers, body: content })).status).toBe(201);
    return (await rs.as('PATCH', path, { headers: { 'Content-Type': type }, body })).status;
  }
  const long = (length: number) => `"${'x'.repeat(length - 2)}"`;
  const many = (values: number) =>
    `[${Array(values - 1)
      .fill('0')
      .join(',')}]`;
  const NOTHING = '[]';

  test('a document of 4 MiB can be patched, and a byte more is 413', async () => {
    expect(await patched(long(4 * MEBIBYTE), JSON_PATCH, NOTHING)).toBe(204);
    expect(await patched(long(4 * MEBIBYTE + 1), JSON_PATCH, NOTHING)).toBe(413);
  });

  test('a document of 100,000 values can be patched, and one more is 422', async () => {
    expect(await patched(many(100_000), JSON_PATCH, NOTHING)).toBe(204);
    expect(await patched(many(100_001), JSON_PATCH, NOTHING)).toBe(422);
  });

  test('the result of a patch has at most 100,000 values, so that it can be patched again', async () => {
    const add = '[{"op":"add","path":"/-","value":0}]';
    expect(await patched(many(99_999), JSON_PATCH, add)).toBe(204);
    expect(await patched(many(100_000), JSON_PATCH, add)).toBe(422);
  });

  test('a patch of 100,001 values is 422', async () => {
    expect(await patched('{}', MERGE_PATCH, `{"a":${many(99_999)}}`)).toBe(204);
    expect(await patched('{}', MERGE_PATCH, `{"a":${many(100_000)}}`)).toBe(422);
  });
});
