/** An MCP server with sessions and streams, behind the guard and behind the gateway, and attacks on it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { CliUser } from '../../flows/cli-user.ts';
import { examples, runCommands } from '../../pair/examples.ts';
import { eventsOf, RawClient, textsOf } from './raw-client.ts';
import { PAGE, type SessionSite, startSessionSite, WAYS } from './session-site.ts';

const BOTH = 'notes:read notes:write';
const BLOCKS = {
  gateway: ['sh mcp-example'],
  guard: ['sh mcp-example', 'sh mcp-example-guard'],
} as const;
const GUIDE = 'docs/how-to/mcp-example.md';

const parts = new AsyncDisposableStack();
let site: SessionSite;
beforeAll(async () => {
  site = parts.use(await startSessionSite(BLOCKS));
});
afterAll(() => parts.disposeAsync());

describe.each(WAYS)('behind the %s', (way) => {
  let url: string;
  let client: RawClient;
  let session: Readonly<Record<string, string>>;

  /** A token of a new person. */
  const tokenOf = async (scope = BOTH, aud = url) => {
    const { id } = await site.flow.pair.addPerson(randomUUID());
    return site.flow.forge({ client_id: 'host', sub: id, sub_gen: 0, aud, scope });
  };
  const add = (note: string) => client.call('add_note', { note }, { fields: session });
  const said = async (note: string) => textsOf(eventsOf(await add(note)));

  beforeEach(async () => {
    url = site.urls[way];
    client = new RawClient(url, await tokenOf());
    session = await client.begin();
  });

  test('events arrive when they are sent, before the answer ends', async () => {
    const watched = await client.call('watch_notes', { count: 2 }, { fields: session });
    expect(watched.headers.get('content-type')).toBe('text/event-stream');
    const events = eventsOf(watched);
    const next = async () => (await events.next()).value?.text;
    expect(await next()).toBe('watching');
    expect(await said('one')).toEqual(['added one']);
    expect(await next()).toBe('one');
    await said('two');
    expect([await next(), await next(), await next()]).toEqual(['two', 'watched 2', undefined]);
  });

  test('a disconnected client resumes after Last-Event-ID', async () => {
    const cut = new AbortController();
    const sent = { fields: session, signal: cut.signal };
    const events = eventsOf(await client.call('watch_notes', { count: 2 }, sent));
    const { value } = await events.next();
    const seen = { ...session, 'Last-Event-ID': value?.id ?? '' };
    cut.abort();
    await expect(events.next()).rejects.toThrow('aborted');
    await said('missed');
    await said('missed, too');
    const answer = await eventually(async () => {
      const resumed = await client.send('GET', { fields: seen });
      // The server answers 409 until it has noticed the disconnected client.
      expect(resumed.status).toBe(200);
      return resumed;
    });
    const resumed = eventsOf(answer);
    for (const text of ['missed', 'missed, too', 'watched 2']) {
      expect((await resumed.next()).value?.text).toBe(text);
    }
  });

  test('the SDK resumes a stream that the server has closed, and deletes its session', async () => {
    const headers = { Authorization: `Bearer ${await tokenOf()}` };
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    const sdk = new Client({ name: 'host', version: '1.0.0' });
    await sdk.connect(transport);
    const { promise: watching, resolve } = Promise.withResolvers<void>();
    sdk.setNotificationHandler(LoggingMessageNotificationSchema, () => resolve());
    const tool = (name: string, of: object) => sdk.callTool({ name, arguments: { ...of } });
    const watched = tool('watch_notes', { count: 2, cut: true });
    await watching;
    await said('before the cut');
    await said('after the cut');
    expect(await watched).toMatchObject({ content: [{ text: 'watched 2' }] });
    await transport.terminateSession();
    await expect(tool('add_note', { note: 'late' })).rejects.toThrow();
    await sdk.close();
  });

  test('a client that leaves its long stream can open another stream', async () => {
    const cut = new AbortController();
    const open = (signal: AbortSignal) => client.send('GET', { fields: session, signal });
    expect((await open(cut.signal)).status).toBe(200);
    expect((await client.send('GET', { fields: session })).status).toBe(409);
    cut.abort();
    const again = new AbortController();
    await eventually(async () => expect((await open(again.signal)).status).toBe(200));
    again.abort();
  });

  test('DELETE ends a session', async () => {
    expect((await client.send('DELETE', { fields: session })).status).toBe(200);
    expect((await add('late')).status).toBe(404);
  });

  test('a call of a tool with more scopes gets 403 insufficient_scope, with all scopes and the metadata', async () => {
    const reader = new RawClient(url, await tokenOf('notes:read'));
    const own = await reader.begin();
    const refused = await reader.call('add_note', { note: 'no' }, { fields: own });
    expect(refused.status).toBe(403);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    expect(challenge).toMatch(/^Bearer .*error="insufficient_scope"/);
    expect(challenge).toContain(`scope="${BOTH}"`);
    const metadata = /resource_metadata="(.*?)"/.exec(challenge)?.[1] ?? '';
    expect(await (await fetch(metadata)).json()).toMatchObject({
      resource: url,
      scopes_supported: expect.arrayContaining(way === 'guard' ? ['notes:read'] : BOTH.split(' ')),
    });
  });

  describe('attacks', () => {
    test.each(['POST', 'GET', 'DELETE'])(
      "MCP, session hijacking: %s with another person's session gets 404",
      async (method) => {
        const stranger = new RawClient(url, await tokenOf());
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
        const answer = await stranger.send(method, {
          fields: { ...session, ...(method === 'GET' && { 'Last-Event-ID': '0' }) },
          ...(method === 'POST' && { body }),
        });
        expect(answer.status).toBe(404);
        expect(await said('still there')).toEqual(['added still there']);
      },
    );

    test('a session id without a token gets 401', async () => {
      const answer = await fetch(url, { method: 'DELETE', headers: { ...session } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('scope="notes:read"');
      expect((await add('still there')).status).toBe(200);
    });

    test('a client cannot claim another identity', async () => {
      const forged = { ...session, 'X-Auth-Statement': 'e30.e30.', 'X-Auth-Subject': 'admin' };
      const stranger = new RawClient(url, await tokenOf(), forged);
      expect((await stranger.send('DELETE')).status).toBe(404);
    });

    test('RFC 8707: a token for the other server is refused, even with the session id', async () => {
      const other = site.urls[way === 'guard' ? 'gateway' : 'guard'];
      const stranger = new RawClient(url, await tokenOf(BOTH, other), session);
      const answer = await stranger.send('DELETE');
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });

    test('RFC 6750 section 2.3: a token in the query is refused', async () => {
      const answer = await fetch(`${url}?access_token=${await tokenOf()}`, {
        method: 'DELETE',
        headers: { ...session },
      });
      expect(answer.status).toBe(401);
      expect((await add('still there')).status).toBe(200);
    });

    test.each(['https://evil.example', 'null'])(
      'MCP, DNS rebinding: a page of the origin %s is refused, even with a valid token',
      async (Origin) => {
        const answer = await client.initialize({ Origin });
        expect(answer.status).toBe(403);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      },
    );

    test('a slow reader delays no other client, and gets all of its answer', async () => {
      const pages = 128;
      const slow = eventsOf(await client.call('print', { pages }, { fields: session }));
      expect((await slow.next()).value?.text).toMatch(/^0 x/);
      expect(await said('meanwhile')).toEqual(['added meanwhile']);
      const heads = (await textsOf(slow)).map((text) => text.slice(0, text.indexOf(' ')));
      const numbers = Array.from({ length: pages - 1 }, (_, page) => `${page + 1}`);
      expect(heads).toEqual([...numbers, 'printed']);
    });
  });

  test('Fetch, CORS protocol: a page of a listed origin begins a session, and reads its id', async () => {
    const asked = 'authorization,content-type,last-event-id,mcp-protocol-version,mcp-session-id';
    const allowed = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        Origin: PAGE,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': asked,
      },
    });
    expect(allowed.status).toBe(204);
    const list = (name: string, { headers } = allowed) =>
      (headers.get(name) ?? '').toLowerCase().split(', ');
    expect(list('access-control-allow-headers').toSorted()).toEqual(asked.split(','));
    expect(list('access-control-allow-methods')).toEqual(
      expect.arrayContaining(['get', 'post', 'delete']),
    );
    const begun = await client.initialize({ Origin: PAGE });
    expect(begun.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(list('access-control-expose-headers', begun)).toContain('mcp-session-id');
  });
});

describe('an MCP server behind the gateway', () => {
  let client: RawClient;
  let session: Readonly<Record<string, string>>;
  let person: string;
  beforeEach(async () => {
    const { flow, urls } = site;
    person = randomUUID();
    const { id } = await flow.pair.addPerson(person);
    const claims = { client_id: 'host', sub: id, sub_gen: 0, aud: urls.gateway, scope: BOTH };
    client = new RawClient(urls.gateway, await flow.forge(claims));
    session = await client.begin();
  });

  test('the command line calls a tool as the page says, after the login that the refusal names', async () => {
    const { flow, urls } = site;
    await using user = await CliUser.start(flow, await flow.pair.addPerson());
    const [commands = ''] = await examples(GUIDE, 'sh mcp-call');
    const call = () => runCommands(flow.pair, `export HOME=${user.home}\n${commands}`);
    await user.approve(['login', urls.gateway, '--scope', 'notes:read']);
    const refused = await call().catch((error: Error) => error.message);
    const [, login = ''] = /more scopes\. Run: .*(login .*)$/m.exec(String(refused)) ?? [];
    expect(login).toContain(`--resource ${urls.gateway} `);
    const words = [...login.matchAll(/"([^"]*)"|(\S+)/g)];
    await user.approve(words.map(([, quoted, plain = '']) => quoted ?? plain));
    expect((await call()).at(-1)).toContain('added milk');
  });

  test('the page has a row for each variable that the server reads', async () => {
    const names = ['server-sessions', ...WAYS.map((way) => `behind-${way}`)];
    const sources = await Promise.all(
      names.map((name) => readFile(new URL(`${name}.mjs`, import.meta.url), 'utf8')),
    );
    const read = sources.flatMap((source) =>
      [...source.matchAll(/\{([^}]*)\} = process\.env|process\.env\.(\w+)/g)].flatMap(
        ([words]) => words.match(/\b[A-Z]+\b/g) ?? [],
      ),
    );
    const page = await readFile(GUIDE, 'utf8');
    const rows = [...page.matchAll(/^\| (`[A-Z`, ]+`) \|/gm)].flatMap(
      ([, cell = '']) => cell.match(/[A-Z]+/g) ?? [],
    );
    expect(new Set(rows)).toEqual(new Set(read));
    const [starts = ''] = await examples(GUIDE, 'sh mcp-example-start');
    expect(rows).toEqual(expect.arrayContaining(starts.match(/[A-Z]+(?==)/g) ?? []));
  });

  test('MCP, DNS rebinding: a page under a rebound name gets 421, and the session continues', async () => {
    const { hostname, port, pathname } = new URL(site.urls.gateway);
    const headers = { ...session, Host: 'evil.example' };
    const asked = request({ hostname, port, path: pathname, method: 'DELETE', headers }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(421);
    expect((await client.send('DELETE', { fields: session })).status).toBe(200);
  });

  test('a stream ends when the access of its person ends', async () => {
    const watched = await client.call('watch_notes', { count: 1 }, { fields: session });
    const events = eventsOf(watched);
    expect((await events.next()).value?.text).toBe('watching');
    await site.flow.pair.cli('user', 'disable', person);
    await expect(events.next()).rejects.toThrow('terminated');
    expect((await client.send('DELETE', { fields: session })).status).toBe(401);
  });

  test('if the server dies, its stream is reset, and the next request gets 502', async () => {
    const watched = await client.call('watch_notes', { count: 1 }, { fields: session });
    const events = eventsOf(watched);
    expect((await events.next()).value?.text).toBe('watching');
    await site.servers.gateway.kill('SIGKILL');
    await expect(events.next()).rejects.toThrow('terminated');
    expect((await client.send('DELETE', { fields: session })).status).toBe(502);
  });
});
