import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import http2, { type ClientHttp2Session } from 'node:http2';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sendSlowly } from '#shared/server/content/slow-content.fixture.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { type Application, startApplication, startGateway } from './gateway.fixture.ts';

const SPACES = ['stream', 'kept', 'files', 'finish'] as const;
const LONG = Buffer.alloc(32 * 1024 * 1024, 'x');

let application: Application;
let server: Awaited<ReturnType<typeof startGateway>>;
let session: ClientHttp2Session;
/** The requests that reached the application. `end`: how each ended there. */
let asked: { readonly url: string; end?: 'whole' | 'aborted' }[];
/** Ends the answers of the application. */
let finish: PromiseWithResolvers<void>;
let issued = 0;

beforeAll(async () => {
  application = await startApplication((request, response) => {
    const one: (typeof asked)[number] = { url: request.url ?? '' };
    asked.push(one);
    if (request.method === 'PUT') {
      request.resume().once('close', () => (one.end = request.complete ? 'whole' : 'aborted'));
      request.once('end', () => response.end());
      return;
    }
    response.sendDate = false; // the date would be from another clock
    // Only an answer of known length is shared while it arrives.
    const length = one.url.startsWith('/sized') ? { 'Content-Length': 'first last'.length } : {};
    const fields = { 'Cache-Control': 'public, max-age=60', ...length };
    response.writeHead(200, fields).write('first ');
    response.once('close', () => (one.end ??= 'aborted'));
    void finish.promise.then(() => {
      one.end ??= 'whole';
      response.end('last');
    });
  });
  const { url } = application;
  const open = { methods: ['GET', 'PUT'], scopes: {} };
  server = await startGateway(
    {
      stream: { upstream: { url }, ...open },
      kept: { upstream: { url }, ...open, cache: { kind: 'shared' } },
      finish: { upstream: { url, streams: 'finish' }, ...open },
      files: { serves: 'documents', scopes: {} },
    },
    { documents: { maxBytes: LONG.length, memory: 1024 } },
  );
  session = http2.connect(`http://127.0.0.1:${server.listening.port}`);
});
afterAll(async () => {
  session.destroy();
  await server[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});
beforeEach(() => {
  asked = [];
  finish = Promise.withResolvers();
});
afterEach(() => finish.resolve());

const until = () => server.clock.now() + 600_000;

interface Exchange {
  readonly jti: string;
  /** Resolves when the server reads the content (RFC 9110 section 10.1.1). */
  readonly continued: Promise<unknown>;
  /** The content of the answer, once it has begun. */
  readonly answer: Promise<Readable>;
  write(piece: Buffer): void;
  finish(): void;
  /** Resolves to the way in which it ended: a status, or `cut`. */
  readonly over: Promise<unknown>;
}

type Ask = (path: string, method?: string, claims?: object) => Exchange;

function named(path: string, claims: object) {
  issued += 1;
  const jti = `under-way-${issued}`;
  const space = SPACES.find((name) => path.startsWith(`/${name}/`)) ?? '';
  return { jti, authorization: `Bearer ${server.token(`${space}:read`, { jti, ...claims })}` };
}

const expecting = (method: string) => (method === 'PUT' ? { expect: '100-continue' } : {});

const overHttp1: Ask = (path, method = 'GET', claims = {}) => {
  const { jti, authorization } = named(path, claims);
  const { port } = server.listening;
  const headers = { host: 'rs.example', authorization, ...expecting(method) };
  const request: ClientRequest = http.request({ port, path, method, headers, agent: false });
  request.on('error', () => {});
  if (method === 'PUT') request.flushHeaders();
  else request.end();
  let given: IncomingMessage | undefined;
  const answer = once(request, 'response').then(
    ([response]) => (given = response as IncomingMessage),
  );
  answer.catch(() => {});
  const closed = new Promise((resolve) => request.once('close', resolve));
  const over = closed.then(() => (given?.complete ? given.statusCode : 'cut'));
  const continued = once(request, 'continue');
  continued.catch(() => {});
  return {
    jti,
    continued,
    answer,
    over,
    write: (piece) => request.write(piece),
    finish: () => request.end(),
  };
};

const overHttp2: Ask = (path, method = 'GET', claims = {}) => {
  const { jti, authorization } = named(path, claims);
  const stream = session.request(
    {
      ':method': method,
      ':path': path,
      ':authority': 'rs.example',
      authorization,
      ...expecting(method),
    },
    { endStream: method !== 'PUT' },
  );
  stream.on('error', () => {});
  let status = 0;
  const answer = once(stream, 'response').then(([fields]) => {
    status = Number(fields[':status']);
    return stream;
  });
  answer.catch(() => {});
  const over = new Promise((resolve) => stream.once('close', resolve)).then(() =>
    stream.rstCode === http2.constants.NGHTTP2_NO_ERROR ? status : 'cut',
  );
  const continued = once(stream, 'continue');
  continued.catch(() => {});
  return {
    jti,
    continued,
    answer,
    over,
    write: (piece) => stream.write(piece),
    finish: () => stream.end(),
  };
};

const revoke = ({ jti }: Exchange) => server.stores.revocations.revoke('token', jti, until());

const CALLS: readonly (readonly [string, Ask])[] = [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
];

describe.each(CALLS)('over %s a revocation ends', (_, ask) => {
  test('a revocation resets a streamed answer of an application, and no other', async () => {
    const [ended, other] = [ask('/stream/a'), ask('/stream/b')];
    await Promise.all([ended, other].map(async ({ answer }) => once(await answer, 'data')));
    await revoke(ended);
    expect(await ended.over).toBe('cut');
    await eventually(() => expect(asked.find(({ url }) => url === '/a')?.end).toBe('aborted'));
    finish.resolve();
    (await other.answer).resume();
    expect(await other.over).toBe(200);
  });

  test('a revocation ends an answer that has not begun yet', async () => {
    const waiting = ask('/stream/upload', 'PUT');
    await eventually(() => expect(asked).toHaveLength(1));
    await revoke(waiting);
    expect(await waiting.over).toBe('cut');
  });

  test('a revocation ends an upload to an application, which sees that it is incomplete', async () => {
    const upload = ask('/stream/upload', 'PUT');
    upload.write(Buffer.from('half'));
    await eventually(() => expect(asked).toHaveLength(1));
    await revoke(upload);
    expect(await upload.over).toBe('cut');
    await eventually(() => expect(asked[0]?.end).toBe('aborted'));
  });

  test('a revocation ends an upload of a document, and nothing of it stays', async () => {
    const upload = ask('/files/half.txt', 'PUT');
    await upload.continued;
    upload.write(Buffer.from('half'));
    await revoke(upload);
    expect(await upload.over).toBe('cut');
    const look = ask('/files/half.txt');
    (await look.answer).resume();
    expect(await look.over).toBe(404);
  });

  test('a revocation ends a download that its client reads slowly', async () => {
    const upload = overHttp1('/files/long.bin', 'PUT');
    upload.write(LONG);
    upload.finish();
    (await upload.answer).resume();
    await upload.over;
    const download = ask('/files/long.bin');
    const content = await download.answer;
    content.once('data', () => content.pause());
    await once(content, 'pause');
    await revoke(download);
    await eventually(() => {
      const line = server.lines.findLast((one) => one.includes('the token is not good any more'));
      expect(line).toMatch(/"path":"\/files\/long.bin".*"cut":true/);
    });
    content.resume();
    expect(await download.over).toBe('cut');
  });

  test('raising the generation of a person or a client ends all its requests', async () => {
    const [sub, client_id] = [`person-${issued}`, `client-${issued}`];
    const [ofPerson, ofClient] = [
      ask('/stream/a', 'GET', { sub, sub_gen: 0 }),
      ask('/stream/b', 'GET', { client_id, sub: client_id }),
    ];
    await Promise.all([ofPerson, ofClient].map(({ answer }) => answer));
    await server.stores.revocations.raise('person', sub, until());
    await server.stores.revocations.raise('client', client_id, until());
    expect(await Promise.all([ofPerson.over, ofClient.over])).toEqual(['cut', 'cut']);
  });

  test('a revocation does not end a fill of the cache that other clients read', async () => {
    const path = `/kept/sized-${issued}`;
    const ended = ask(path);
    await once(await ended.answer, 'data');
    const other = ask(path);
    const rest = text(await other.answer);
    await revoke(ended);
    expect(await ended.over).toBe('cut');
    finish.resolve();
    expect(await rest).toBe('first last');
    expect(asked).toHaveLength(1);
  });

  test('a revocation does not end an answer if upstream.streams is finish', async () => {
    const [ended, stays] = [ask('/stream/a'), ask('/finish/b')];
    const rest = text(await stays.answer);
    await ended.answer;
    await revoke(stays);
    await revoke(ended);
    expect(await ended.over).toBe('cut');
    finish.resolve();
    expect(await rest).toBe('first last');
  });

  test('the expiry of a token ends neither answer nor upload, and a later revocation does', async () => {
    const person = `person-${issued}`;
    const claims = { sub: person, sub_gen: 0, exp: server.now() + 60 };
    const [answer, upload] = [
      ask('/stream/a', 'GET', claims),
      ask(`/files/expired-${issued}.txt`, 'PUT', claims),
    ];
    const [revoked, late] = [ask('/stream/b'), ask('/stream/c', 'GET', claims)];
    await Promise.all([answer.answer, revoked.answer, late.answer]);
    await upload.continued;
    upload.write(Buffer.from('all of '));
    server.clock.advance(3600);
    await revoke(revoked);
    expect(await revoked.over).toBe('cut');
    upload.write(Buffer.from('it'));
    upload.finish();
    (await upload.answer).resume();
    expect(await upload.over).toBe(201);
    await server.stores.revocations.raise('person', person, until());
    expect(await Promise.all([answer.over, late.over])).toEqual(['cut', 'cut']);
  });
});

describe('content that comes slowly is judged again once it has come, though nobody has looked since', () => {
  const dav = (element: string, content: string) =>
    `<D:${element} xmlns:D="DAV:">${content}</D:${element}>`;
  const XML = 'application/xml';
  const LOCK = dav(
    'lockinfo',
    '<D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>',
  );
  const SET = dav('propertyupdate', '<D:set><D:prop><x xmlns="x:">y</x></D:prop></D:set>');
  const at = '/files/slow.json';

  test.each([
    ['PUT', at, 'application/json', '{"a":2}'],
    ['PATCH', at, 'application/merge-patch+json', '{"a":2}'],
    ['POST', '/files/', 'application/json', '{"a":2}'],
    ['PROPPATCH', at, XML, SET],
    ['LOCK', at, XML, LOCK],
    ['PROPFIND', at, XML, dav('propfind', '<D:allprop/>')],
    ['QUERY', at, 'application/jsonpath', '$.a'],
  ])(
    'a token revoked while slow content arrives makes %s a 403, without content or change',
    async (method, path, type, content) => {
      const first = overHttp1(at, 'PUT');
      first.write(Buffer.from('{"a":1}'));
      first.finish();
      (await first.answer).resume();
      expect([201, 204]).toContain(await first.over);
      const before = await server.stores.trees.version('/files');
      const { jti, authorization } = named(path, {});
      const { status, text: told } = await sendSlowly(
        {
          url: `http://127.0.0.1:${server.listening.port}${path}`,
          headers: { host: 'rs.example', authorization, 'content-type': type },
          content: Buffer.from(content),
          method,
        },
        async () => {
          server.clock.advance(2);
          await server.stores.revocations.revoke('token', jti, until());
        },
      );
      expect(status).toBe(403);
      expect(told).toContain('revoked meanwhile');
      expect(await server.stores.trees.version('/files')).toBe(before);
    },
  );
});

test('the token of an upload is checked again before its commit', async () => {
  const upload = overHttp1('/files/late.txt', 'PUT');
  await upload.continued;
  server.clock.advance(2);
  await revoke(upload);
  upload.write(Buffer.from('whole'));
  upload.finish();
  (await upload.answer).resume();
  expect(await upload.over).toBe(403);
  const look = overHttp1('/files/late.txt');
  (await look.answer).resume();
  expect(await look.over).toBe(404);
});
