import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { silentLog } from '#shared/base/log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { sharedTree } from '#shared/stores/trees/tree-names.ts';
import { EXCHANGES } from '../../playground/exchanges.ts';
import { PASSWORD, PERSON } from '../../playground/person.ts';
import { openLoopback } from '../../playground/listener.ts';
import { messagesOf, onePlayground, startPlayground, statusesOf } from './playground.fixture.ts';

const suite = onePlayground();

const INJECTIONS = [
  'password\r\nX-Evil: 1',
  'http://evil.example/',
  '<script>',
  '../../',
  'toString',
  '__proto__',
];

test.each(INJECTIONS)(
  'a form that names %j as a mistake is refused, and no request is sent',
  async (value) => {
    const { rs } = suite;
    const page = await rs.perform('basic', new URLSearchParams({ mistake: value }).toString());
    expect(page.status).toBe(400);
    expect(messagesOf(page.text)).toEqual([]);
    expect(page.text).not.toContain('<script');
  },
);

test.each([
  'mistake=password&mistake=name',
  'target=/x',
  'mistake=password&host=evil',
  '%ff=1',
  'mistake=%ff',
  'version=2',
])('the form %s is refused with 400', async (form) => {
  const { rs } = suite;
  expect((await rs.perform('basic', form)).status).toBe(400);
});

test.each(['version=3', 'version=2&version=2', 'version=2&version=', 'version=%0d%0a'])(
  'the form %s is refused with 400, even if HTTP/2 is offered',
  async (form) => {
    const { rs } = suite;
    expect((await rs.perform('hoba', form)).status).toBe(400);
    expect((await rs.perform('hoba', 'version=2')).status).toBe(200);
  },
);

test('a form of another media type is 415, and a form of 5 KB is 413', async () => {
  const { rs } = suite;
  const json = await rs.perform('basic', '{}', { 'Content-Type': 'application/json' });
  const long = await rs.perform('basic', `mistake=${'a'.repeat(5000)}`);
  expect([json.status, long.status]).toEqual([415, 413]);
});

test.each([
  { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
  { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' },
  { Origin: 'null', 'Sec-Fetch-Site': 'same-site' },
])('a page of another site cannot start an exchange: %j', async (headers) => {
  const { rs } = suite;
  const before = rs.lines.length;
  expect((await rs.perform('basic', '', headers)).status).toBe(403);
  expect(rs.lines.slice(before).filter((line) => line.includes('/playground/at/'))).toEqual([]);
});

test('a visitor has 30 exchanges at once, then 429 with Retry-After, and another visitor is not affected', async () => {
  await using rs = await startPlayground();
  const from = (address: string) => rs.perform('basic', '', { 'X-Forwarded-For': address });
  for (let count = 0; count < 30; count += 1) {
    expect((await from('203.0.113.1')).status).toBe(200);
  }
  const refused = await from('203.0.113.1');
  expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
  expect((await from('203.0.113.2')).status).toBe(200);
});

test('two of ten concurrent exchanges are performed, and the others are 503', async () => {
  await using rs = await startPlayground();
  const replies = await Promise.all(Array.from({ length: 10 }, () => rs.perform('basic')));
  const statuses = replies.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(2);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect((await rs.perform('basic')).status).toBe(200);
});

test("an address may use the playground's public credentials 200 times at once, and other addresses are not affected", async () => {
  await using rs = await startPlayground();
  const page = await rs.ask('GET', '/playground/api-key', { headers: { Accept: 'text/html' } });
  const [key = ''] = /cs_[0-9a-f_]+/.exec(page.text) ?? [];
  const address = { 'X-Forwarded-For': '203.0.113.1' };
  const headers = { ...address, 'X-API-Key': key };
  const show = async () => (await rs.ask('GET', '/playground/at/api-key/', { headers })).status;
  let shown = 0;
  while (shown < 400 && (await show()) === 200) shown += 1;
  expect([shown, await show()]).toEqual([200, 429]);
  // Each authentication by Digest or SCRAM writes a row to the store.
  expect(statusesOf((await rs.perform('digest', '', address)).text)).toEqual([401, 429, 429]);
  expect((await rs.perform('scram-sha-256', '', address)).text).toContain('answered 429');
  expect(statusesOf((await rs.perform('api-key')).text)).toEqual([403, 200]);
  expect(statusesOf((await rs.perform('digest')).text)).toEqual([401, 200, 200]);
  rs.clock.advance(1);
  expect([await show(), await show(), await show()]).toEqual([200, 200, 429]);
});

test("wrong passwords are counted for the visitor's address, even if it is that of a trusted proxy", async () => {
  await using rs = await startPlayground({
    limits: { signIn: { burst: 2, per: 100 }, credentials: { burst: 50, per: 10 } },
  });
  const wrong = (address: string) =>
    rs.perform('basic', 'mistake=name', { 'X-Forwarded-For': address });
  for (const address of ['203.0.113.1', '127.0.0.1']) {
    const last: (number | undefined)[] = [];
    for (let count = 0; count < 3; count += 1)
      last.push(statusesOf((await wrong(address)).text).at(-1));
    expect(last).toEqual([401, 401, 429]);
  }
});

describe('an authorization server that issues no token', () => {
  /** Undefined: the server does not answer. */
  let answer: string | undefined = '';
  /** Seconds that an answer takes. */
  let seconds = 0;
  let rs: Awaited<ReturnType<typeof startPlayground>>;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('data', () => {
      rs.clock.advance(seconds);
      if (answer !== undefined) socket.end(answer);
    });
  });
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    rs = await startPlayground({ jwks: { url: `http://127.0.0.1:${port}/jwks` } });
  });
  afterAll(async () => {
    server.close();
    await rs[Symbol.asyncDispose]();
  });

  const from = (visitor: number) =>
    rs.perform('client-credentials', '', { 'X-Forwarded-For': `203.0.113.${visitor}` });

  test.each([
    ['a page of a proxy', '502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n<p>Bad</p>', 200],
    ['no object', '200 OK\r\nContent-Type: application/json\r\n\r\nnull', 200],
    ['an object', '200 OK\r\n\r\n{"access_token":{}}', 200],
    ['half a chunk', '200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf', 503],
  ])(
    'the page reports an authorization server that answers with %s',
    async (_what, told, status) => {
      answer = `HTTP/1.1 ${told}`;
      expect((await from(99)).status).toBe(status);
    },
  );

  test('chunked answers, such as those of a proxy, are read for the lists of checks', async () => {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json';
    answer = `${head}\r\n\r\n17\r\n{"request_uri":"urn:x"}\r\n0\r\n\r\n`;
    const { text: page } = await rs.perform('authorization-code');
    expect(statusesOf(page)).toEqual([401, 200, 200]);
    expect(page).not.toContain('there is no such request');
  });

  test('the page does not claim a false reason if the browser is not redirected or the token is invalid', async () => {
    answer = 'HTTP/1.1 200 OK\r\n\r\n{"request_uri":"urn:x","access_token":"x"}';
    const code = await rs.perform('authorization-code');
    expect(statusesOf(code.text)).toEqual([401, 200, 200]);
    expect(code.text).not.toContain('has not begun a request with this state');
    const token = await from(96);
    expect(statusesOf(token.text)).toEqual([401, 200, 401, 200, 401]);
    expect(token.text).not.toContain('because it was revoked');
    answer = 'HTTP/1.1 503 x\r\n\r\n{"detail":"The storage is away."}';
    const away = (await from(91)).text;
    expect(away).toMatch(/The server cannot check this now\.[^]{0,80}The storage is away\./);
    expect(away).not.toContain('Refused:');
  });

  test('an authorization server that answers slowly holds an exchange for 15 seconds plus the running leg', async () => {
    answer = 'HTTP/1.1 200 OK\r\n\r\n{"access_token":"x"}';
    seconds = 8;
    expect((await from(93)).status).toBe(503);
    seconds = 0;
    expect((await from(92)).status).toBe(200);
  });

  test('exchanges that do not need a silent authorization server continue', async () => {
    answer = undefined;
    const asked = once(server, 'connection');
    const first = from(95);
    await asked;
    const askedAgain = once(server, 'connection');
    const second = from(94);
    await Promise.race([second, askedAgain]);
    expect((await rs.perform('basic')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    expect([(await first).status, (await second).status]).toEqual([503, 503]);
    expect((await second).text).toContain('Other visitors use the playground now.');
  });

  test('a visitor may use the authorization server 20 times at once, and other visitors are not affected', async () => {
    answer = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\nnull';
    const asked: string[] = [];
    while (asked.length < 40 && !asked.some((page) => page.includes('Too many of these forms')))
      asked.push((await from(98)).text);
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.at(-1)).toContain('Too many of these forms came from your address.');
    expect((await from(97)).status).toBe(200);
  });

  test('all visitors may use the authorization server 60 times at once, and an outage is 503', async () => {
    answer = '';
    let times = 0;
    let late = await from(1);
    for (; times < 200 && late.text.includes('was not answered'); times += 1) {
      expect(late.status).toBe(503);
      if (times === 4) server.close();
      late = await from(2 + times);
    }
    expect([late.status, late.text]).toEqual([
      503,
      expect.stringContaining('Other visitors use the authorization server'),
    ]);
    expect(times).toBeGreaterThanOrEqual(60 - 33);
    expect((await rs.perform('basic', '', { 'X-Forwarded-For': '203.0.113.254' })).status).toBe(
      200,
    );
  });
});

test('an outage of the store during an exchange is shown in words, and is not an error of the server', async () => {
  await using rs = await startPlayground();
  const { limits } = rs.stores;
  const away = () => Promise.reject(new StoreUnavailable('down'));
  const spend = limits.spend.bind(limits);
  jest
    .spyOn(limits, 'spend')
    .mockImplementation((...of) => (of[0] === 'push-subscription' ? away() : spend(...of)));
  expect(statusesOf((await rs.perform('vapid')).text)).toEqual([201, 503, 204]);
  const replayed = await rs.perform('vapid', 'mistake=replayed');
  expect(statusesOf(replayed.text)).toEqual([201, 503, 503, 204]);
  expect(replayed.text).not.toContain('The push service accepts the message');
  expect(replayed.text).not.toContain('Refused:');
  // The client has its token, but the issuer cannot look for revocations.
  const latest = rs.feed.latest.bind(rs.feed);
  jest.spyOn(rs.feed, 'latest').mockImplementation(away).mockImplementationOnce(latest);
  const unsigned = await rs.perform('private-token');
  expect([unsigned.status, unsigned.text]).toEqual([
    503,
    expect.stringContaining('The server answered 503.'),
  ]);
  jest.restoreAllMocks();
  expect(statusesOf((await rs.perform('private-token')).text)).toEqual([401, 200, 200, 200]);
  expect(statusesOf((await rs.perform('vapid')).text)).toEqual([201, 201, 200, 204, 204]);
});

test("another program of the machine gets no answer from the playground's listener", async () => {
  let port = 0;
  let served = 0;
  await using loopback = openLoopback((request, response) => {
    served += 1;
    port = request.socket.localPort ?? 0;
    response.end('hello');
  }, silentLog);
  const request = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect(String((await loopback.send(() => request, '203.0.113.9')).received)).toContain('hello');
  const stranger = connect({ host: '127.0.0.1', port });
  await once(stranger, 'connect');
  stranger.write(request);
  expect(await text(stranger).catch(() => '')).toBe('');
  expect(served).toBe(1);
});

test("another program of the machine gets no tunnel from the playground's proxy", async () => {
  let port = 0;
  let tunnels = 0;
  await using loopback = openLoopback(() => {}, silentLog, {
    tunnel: async ({ request, refuse }) => {
      tunnels += 1;
      port = request.socket.localPort ?? 0;
      refuse({ status: 403, fields: {} });
    },
  });
  const request = Buffer.from('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n');
  expect(String((await loopback.send(() => request, '203.0.113.9')).received)).toContain(' 403 ');
  const stranger = connect({ host: '127.0.0.1', port });
  await once(stranger, 'connect');
  stranger.write(request);
  expect(await text(stranger).catch(() => '')).toBe('');
  expect(tunnels).toBe(1);
});

test("the playground's proxy reaches only its own origin, and dials loopback for any destination", async () => {
  const dialled: unknown[] = [];
  const watch = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    socket.once('connectionAttempt', (address: string) => dialled.push(address));
  };
  subscribe('net.client.socket', watch);
  for (const changes of [{}, { resource: 'http://127.0.0.1:3001', spaces: [] }]) {
    await using rs = await startPlayground({ ...changes, trustedProxies: [] });
    const headers = 'resource' in changes ? { Origin: changes.resource } : {};
    const right = await rs.perform('connect', '', headers);
    const other = await rs.perform('connect', 'mistake=destination', headers);
    expect([statusesOf(right.text), statusesOf(other.text)]).toEqual([
      [407, 200, 200],
      [407, 403],
    ]);
  }
  unsubscribe('net.client.socket', watch);
  // For each of the two origins: four connections to the proxy, and one by the proxy.
  expect(dialled.length).toBeGreaterThanOrEqual(10);
  expect(new Set(dialled)).toEqual(new Set(['127.0.0.1']));
});

test("the log has the visitor's request and no request of the exchange", async () => {
  const { rs } = suite;
  const before = rs.lines.length;
  await rs.perform('basic');
  const paths = rs.lines.slice(before).map((line) => JSON.parse(line)['path']);
  expect(paths).toEqual(['/playground/basic']);
});

test('only the playground can reach its issuer of PrivateTokens', async () => {
  const { rs } = suite;
  await rs.perform('private-token');
  for (const path of ['/.well-known/private-token-issuer-directory', '/private-token/request']) {
    for (const headers of [{}, { Host: 'issuer.example' }]) {
      const { status } = await rs.ask('GET', path, { headers });
      expect([path, status]).toEqual([path, 404]);
    }
  }
});

test.each(EXCHANGES.filter(({ space }) => space['serves'] === 'documents'))(
  'only the playground writes to the documents of $name, and an exchange leaves none',
  async ({ name, mistakes }) => {
    const { rs } = suite;
    const path = `/playground/at/${name}/`;
    for (const mistake of ['', ...Object.keys(mistakes)]) {
      const page = await rs.perform(name, `mistake=${mistake}`);
      expect([mistake, statusesOf(page.text).at(-1)]).toEqual([mistake, 204]);
    }
    const headers = {
      Authorization: basicCredentials(PERSON.name, PASSWORD),
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-For': '203.0.113.9',
    };
    for (const method of ['GET', 'PUT', 'MKCOL', 'PROPFIND']) {
      expect([method, (await rs.ask(method, `${path}mine`, { headers })).status]).toEqual([
        method,
        404,
      ]);
    }
    const tree = sharedTree(['playground', 'at', name]);
    const { locks, usage } = await rs.stores.trees.look(tree, []);
    expect([locks.length, usage.entries, usage.bytes]).toEqual([0, 0, 0]);
  },
);

test('only the playground reaches its push service, and an exchange leaves nothing in the store', async () => {
  const { rs } = suite;
  const { mistakes = {} } = EXCHANGES.find(({ name }) => name === 'vapid') ?? {};
  for (const mistake of ['', ...Object.keys(mistakes)]) {
    for (const version of ['', '2']) {
      const form = new URLSearchParams({ mistake, version }).toString();
      const page = await rs.perform('vapid', form);
      expect([form, statusesOf(page.text).at(-1)]).toEqual([form, 204]);
    }
  }
  expect(await rs.stores.push.subscriptionsOf(PERSON.id)).toEqual([]);
  const { text: page } = await rs.perform('vapid');
  const [, token = ''] = /Authorization: Bearer (\S+)/.exec(page) ?? [];
  const headers = {
    Authorization: `Bearer ${token}`,
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-For': '203.0.113.9',
  };
  expect((await rs.ask('GET', '/documents/', { headers })).status).toBe(401);
  const paths = [...page.matchAll(/\/playground\/at\/vapid\/[a-z]+(?:\/[\w-]{22})?/g)];
  const kinds = ['subscribe', 'subscription', 'push', 'message'];
  expect(new Set(paths.map(([path]) => path.split('/')[4]))).toEqual(new Set(kinds));
  for (const [path] of paths) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect([path, (await rs.ask(method, path, { headers })).status]).toEqual([path, 404]);
    }
  }
});

test('subscriptions that interrupted exchanges leave are limited, and end within a minute', async () => {
  await using rs = await startPlayground();
  const until = rs.now() + 60;
  for (let left = 0; left < 50; left += 1) {
    const maker = { grant_id: String(until), client_id: '(playground)', client_gen: 0 };
    const some = { id: `left-${left}`, push: `push-${left}`, person: PERSON.id, maker };
    await rs.stores.push.subscribe({ ...some, created_at: 0 }, 50);
  }
  const full = await rs.perform('vapid');
  expect([full.status, full.text]).toEqual([503, expect.stringContaining('answered 429')]);
  rs.clock.advance(61);
  expect(statusesOf((await rs.perform('vapid')).text)).toEqual([201, 201, 200, 204, 204]);
  expect(await rs.stores.push.subscriptionsOf(PERSON.id)).toEqual([]);
});

test('only the playground reaches its application, and can purge its cache', async () => {
  const { rs } = suite;
  const headers = {
    Authorization: basicCredentials(PERSON.name, PASSWORD),
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-For': '203.0.113.9',
  };
  const cached = EXCHANGES.filter(({ ofApplication }) => ofApplication);
  expect(cached.map(({ name }) => name)).toEqual(['cache', 'query-cache']);
  for (const { name } of cached) {
    for (const method of ['GET', 'QUERY', 'PURGE', 'BAN']) {
      const { status } = await rs.ask(method, `/playground/at/${name}/people-1`, { headers });
      // No space of this server that visitors can reach supports PURGE and BAN (RFC 9110 section 9.1).
      expect([method, status]).toEqual([method, /^(?:PURGE|BAN)$/.test(method) ? 501 : 404]);
    }
  }
});

test('the redirect URI of the code flow is a page that neither reads nor logs the code', async () => {
  const { rs } = suite;
  const query = '?code=a-code-of-somebody&state=x&iss=https://evil.example';
  const headers = { Accept: 'text/html' };
  const { status, text: page } = await rs.ask('GET', `/playground/authorization-code${query}`, {
    headers,
  });
  expect([status, page]).toEqual([200, expect.not.stringContaining('a-code-of-somebody')]);
  expect(rs.lines.join('')).not.toContain('a-code-of-somebody');
});

test('in production without the setting, the playground has no page and no space', async () => {
  await using rs = await startPlayground({ playground: undefined });
  for (const path of ['/schemes/', '/playground/basic', '/playground/at/basic/']) {
    expect([path, (await rs.ask('GET', path)).status]).toEqual([path, 404]);
  }
});
