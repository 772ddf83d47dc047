import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { examples, runCommands } from '../pair/examples.ts';
import { request } from 'undici';
import { startStore } from '../flows/flow.ts';
import { type Pair, ServerProcess, startPair } from '../pair/pair.ts';
import { launchBrowser } from '../parts/browser.ts';
import { freePort } from '../parts/free-port.ts';
import { until } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { startGatewaySite } from './gateway/gateway-site.ts';
import { startNginxFront } from './gateway/nginx-front.ts';
import { curl } from './programs.ts';
import { makeCertificate } from './proxy-site.ts';

/** The cache in front of an application, used by third-party clients and purged by operators. */
const parts = new AsyncDisposableStack();
afterAll(async () => parts.disposeAsync());

/** Each address has a version, which unsafe methods increase. Every answer names its version. */
const versions = new Map<string, number>();
/** The requests that reached the application. */
let asked: string[] = [];
beforeEach(() => {
  asked = [];
});
const LONG = 200_000;
const application = createServer((incoming, response) => {
  const { method = '', url = '', headers } = incoming;
  asked.push(`${method} ${url}`);
  void text(incoming).then((content) => {
    const isSafe = ['GET', 'HEAD', 'QUERY'].includes(method);
    const version = (versions.get(url) ?? 1) + (isSafe ? 0 : 1);
    versions.set(url, version);
    const isLong = url.startsWith('/long');
    if (!isSafe) return response.writeHead(204).end();
    response.setHeader('Cache-Control', 'public, max-age=600');
    response.setHeader('ETag', `"${version}"`);
    response.setHeader('Vary', 'Accept-Language');
    // A returning server reads the bans of its last seconds again: none of these bans matches this answer.
    if (!isLong) response.setHeader('Surrogate-Key', 'news');
    response.setHeader('Content-Type', 'text/html');
    if (headers['if-none-match'] === `"${version}"`) return response.writeHead(304).end();
    const padding = isLong ? ' '.repeat(LONG) : '';
    return response.end(`${method} ${version} ${content}${padding}`);
  });
});
let upstream: { readonly url: string };
beforeAll(async () => {
  application.listen(await freePort(), '127.0.0.1');
  await once(application, 'listening');
  const { port } = application.address() as { readonly port: number };
  upstream = { url: `http://127.0.0.1:${port}/` };
});
afterAll(() => {
  application.closeAllConnections();
  application.close();
});

const OPEN = { realm: 'open', schemes: [], serves: 'upstream' };
const purge = { networks: ['127.0.0.1'] };
const MISS = 'Countersign; fwd=uri-miss; stored';
const HIT = expect.stringMatching(/^Countersign; hit; ttl=\d+$/);
const VALIDATED = expect.stringMatching(/^Countersign; fwd=stale; fwd-status=304; ttl=\d+$/);

const got = async (url: string, ...args: readonly string[]) => {
  const { statuses, fields, body } = await curl(...args, url);
  return [statuses.at(-1), fields.get('cache-status')?.join(', '), body.trim()];
};

const twice = (answer: readonly unknown[]) => [answer, answer];

describe.each(['sqlite', 'postgres'] as const)('with two servers on %s', (kind) => {
  let pair: Pair;
  const at = (server: number, path: string) => `${pair.resources[server]?.url}/open/${path}`;
  const atBoth = async (path: string) => [await got(at(0, path)), await got(at(1, path))];
  beforeAll(async () => {
    versions.clear();
    const store = await startStore(kind, parts);
    const settings = ({ resource }: Pick<Pair, 'resource'>) => ({
      spaces: [
        {
          ...OPEN,
          url: `${resource}/open/`,
          upstream,
          cache: { disk: { maxBytes: 2 ** 24 }, purge },
        },
      ],
    });
    pair = parts.use(await startPair({ ...store, resource: 2, settings }));
  });

  test('RFC 9211: Cache-Status tells curl what was stored, what was not, and which variant', async () => {
    const german = ['--header', 'Accept-Language: de'];
    expect(await got(at(0, 'told'))).toEqual([200, MISS, 'GET 1']);
    expect(await got(at(0, 'told'))).toEqual([200, HIT, 'GET 1']);
    expect(await got(at(0, 'told'), '--http2-prior-knowledge')).toEqual([200, HIT, 'GET 1']);
    const other = 'Countersign; fwd=vary-miss; stored';
    expect(await got(at(0, 'told'), ...german)).toEqual([200, other, 'GET 1']);
    expect(await got(at(0, 'told'), '--header', 'If-None-Match: "1"')).toEqual([304, HIT, '']);
    expect(await got(at(0, 'told'), '--range', '0-2')).toEqual([206, HIT, 'GET']);
    expect(asked).toEqual(['GET /told', 'GET /told']);
  });

  test('RFC 9111 section 4.4: after PUT or POST at one server, the next GET at the other shows the change', async () => {
    for (const [method, version] of Object.entries({ PUT: 2, POST: 3, DELETE: 4 })) {
      await atBoth('written');
      const [status] = await got(at(0, 'written'), '--request', method, '--data', 'x');
      expect(status).toBe(204);
      expect(await got(at(1, 'written'))).toEqual([200, MISS, `GET ${version}`]);
      expect(await got(at(0, 'written'))).toEqual([200, MISS, `GET ${version}`]);
    }
  });

  test('RFC 10008 section 2.7: QUERY requests of undici are cached by their content', async () => {
    const query = async (body: string) => {
      const headers = { 'content-type': 'text/plain' };
      const answer = await request(at(0, 'query'), { method: 'QUERY', headers, body });
      return [answer.headers['cache-status'], await answer.body.text()];
    };
    expect(await query('a')).toEqual([MISS, 'QUERY 1 a']);
    expect(await query('b')).toEqual([MISS, 'QUERY 1 b']);
    expect(await query('a')).toEqual([HIT, 'QUERY 1 a']);
    expect(await got(at(0, 'query'))).toEqual([200, MISS, 'GET 1']);
  });

  test.each(['--http1.1', '--http2-prior-knowledge'])(
    'PURGE and BAN by %s at one server count at both',
    async (version) => {
      const path = `removed${version}`;
      const ban = (rule: string) => ['--request', 'BAN', '--header', `Ban: ${rule}`, version];
      await atBoth(path);
      const evicted = await got(at(0, path), '--request', 'PURGE', version);
      expect(evicted).toEqual([200, undefined, '{"evicted":1,"soft":false}']);
      expect(await atBoth(path)).toEqual(twice([200, MISS, 'GET 1']));
      expect((await got(at(0, ''), ...ban('tag="news"')))[0]).toBe(200);
      expect(await atBoth(path)).toEqual(twice([200, MISS, 'GET 1']));
      expect((await got(at(1, ''), ...ban(`path="/${path}*", status=200, soft`)))[0]).toBe(200);
      expect(await atBoth(path)).toEqual(twice([200, VALIDATED, 'GET 1']));
      expect(await atBoth(path)).toEqual(twice([200, HIT, 'GET 1']));
    },
  );

  test('the command line purges and bans, also softly, and lists the bans', async () => {
    const space = `${pair.resource}/open/`;
    const remove = [
      ['purge', `${space}cli`],
      ['ban', space, '--path', '/cli'],
    ];
    for (const args of remove) {
      await atBoth('cli');
      await pair.cli('cache', ...args);
      expect(await atBoth('cli')).toEqual(twice([200, MISS, 'GET 1']));
      await pair.cli('cache', ...args, '--soft');
      expect(await atBoth('cli')).toEqual(twice([200, VALIDATED, 'GET 1']));
    }
    const bans: unknown = await pair.cli('cache', 'bans');
    expect((bans as unknown[]).slice(0, 2)).toMatchObject([
      { space: '/open/', banned: { path: '/cli' }, soft: true },
      { space: '/open/', banned: { path: '/cli' }, soft: false },
    ]);
  });

  test('a malformed ban gets an explanation, and bans nothing', async () => {
    await atBoth('kept');
    const told = await got(at(0, ''), '--request', 'BAN', '--header', 'Ban: tag=news');
    expect(told).toEqual([
      400,
      undefined,
      expect.stringContaining('tag must be a string, in quotes'),
    ]);
    expect(await got(at(0, 'kept'))).toEqual([200, HIT, 'GET 1']);
  });

  test('after kill -9, answers on disk are reused, except those that changed meanwhile', async () => {
    for (const path of ['long/kept', 'long/changed']) await got(at(0, path));
    await pair.resources[0]?.kill('SIGKILL');
    const [status] = await got(at(1, 'long/changed'), '--request', 'PUT', '--data', 'x');
    expect([status, asked.at(-1)]).toEqual([204, 'PUT /long/changed']);
    await pair.resources[0]?.start();
    expect(await got(at(0, 'long/kept'))).toEqual([200, HIT, 'GET 1']);
    expect(await got(at(0, 'long/changed'))).toEqual([200, MISS, 'GET 2']);
  });
});

test('with two workers: after a change or purge at one, the next read at any worker asks the application', async () => {
  const settings = ({ resource }: Pick<Pair, 'resource'>) => ({
    spaces: [{ ...OPEN, url: `${resource}/open/`, upstream, cache: { purge } }],
  });
  const pair = parts.use(await startPair({ settings }));
  await pair.resources[0]?.kill('SIGTERM');
  const start = ['shared/start/main.js', 'resource', '--workers', '2'];
  const workers = new ServerProcess(start, Number(new URL(pair.resource).port), pair.env);
  parts.defer(() => workers.kill('SIGTERM'));
  await workers.start();
  await until(() => workers.log.includes('ready.'));
  const url = `${pair.resource}/open/worked`;
  let misses = 0;
  /** Each read opens its own connection, so that the workers alternate. */
  async function read(): Promise<readonly unknown[]> {
    const answers = [await got(url), await got(url), await got(url)];
    misses += answers.filter(([, handling]) => handling === MISS).length;
    return answers.map(([, , content]) => content);
  }
  const rounds = 6;
  for (let version = 2; version < 2 + rounds; version += 1) {
    await read();
    expect((await got(url, '--request', 'PUT', '--data', 'x'))[0]).toBe(204);
    expect(await read()).toEqual(Array(3).fill(`GET ${version}`));
    versions.set('/worked', version + 10);
    await got(url, '--request', 'PURGE');
    expect(await read()).toEqual(Array(3).fill(`GET ${version + 10}`));
    versions.set('/worked', version);
    await got(`${pair.resource}/open/`, '--request', 'BAN', '--header', 'Ban: tag="news"');
    expect(await read()).toEqual(Array(3).fill(`GET ${version}`));
  }
  // Each invalidation caused at least one miss, and both workers have answered.
  expect(misses).toBeGreaterThan(3 * rounds);
});

test('behind nginx, X-Forwarded-For names the client, and only listed networks may purge', async () => {
  const { path: folder } = parts.use(await temporaryFolder());
  const certificate = parts.use(await makeCertificate());
  const resource = `https://localhost:${await freePort()}`;
  const site = parts.use(
    await startGatewaySite(
      { nginx: { schemes: [], upstream, cache: { purge: { networks: ['127.0.0.2'] } } } },
      { resource, trustedProxies: ['127.0.0.1/32'] },
    ),
  );
  const { resource: behind } = site.pair;
  parts.use(await startNginxFront({ folder, origin: resource, upstream: behind, certificate }));
  const trusting = ['--http1.1', '--ipv4', '--cacert', certificate.certificate];
  const url = `${resource}/nginx/page`;
  expect(await got(url, ...trusting)).toEqual([200, MISS, 'GET 1']);
  expect(await got(url, ...trusting)).toEqual([200, HIT, 'GET 1']);
  const purging = [...trusting, '--request', 'PURGE'];
  expect((await got(url, ...purging))[0]).toBe(403);
  expect((await got(url, ...purging, '--interface', '127.0.0.2'))[0]).toBe(200);
  expect(await got(url, ...trusting)).toEqual([200, MISS, 'GET 1']);
});

test('in Chromium, navigation and the back button use the cache, and reload asks the application', async () => {
  const site = parts.use(await startGatewaySite({ web: { schemes: [], upstream, cache: {} } }));
  const browser = parts.use(await launchBrowser());
  const [first, second] = [
    await (await browser.newContext()).newPage(),
    await (await browser.newContext()).newPage(),
  ];
  const url = (path: string) => `${site.origin}/web/${path}`;
  const status = async (page: typeof first, path: string) => {
    const answer = await page.goto(url(path));
    return answer?.headers()['cache-status'];
  };
  expect(await status(first, 'a-page')).toBe(MISS);
  expect(await status(second, 'a-page')).toEqual(HIT);
  expect(await status(first, 'b-page')).toBe(MISS);
  await first.goBack();
  expect([first.url(), await first.textContent('body')]).toEqual([url('a-page'), 'GET 1 ']);
  expect(asked.filter((one) => one.endsWith('-page'))).toEqual(['GET /a-page', 'GET /b-page']);
  versions.set('/a-page', 2);
  await first.reload();
  expect(await first.textContent('body')).toBe('GET 2 ');
});

test('the curl commands of docs/how-to/cache.md purge and ban', async () => {
  const [json = ''] = await examples('docs/how-to/gateway.md', 'json gateway');
  const [lines = ''] = await examples('docs/how-to/cache.md', 'sh cache');
  const pair = parts.use(
    await startPair({
      settings: ({ resource }) => {
        const { spaces } = JSON.parse(json.replace('http://localhost:3001', resource)) as {
          readonly spaces: readonly object[];
        };
        return {
          spaces: spaces.map((one) => Object.assign(one, { upstream, cache: { purge: {} } })),
        };
      },
    }),
  );
  const client = await pair.addClient('inventory:read');
  const form = { grant_type: 'client_credentials', resource: `${pair.resource}/inventory/` };
  const { body } = await pair.post('/token', form, client);
  const bearer = ['--header', `Authorization: Bearer ${String(body['access_token'])}`];
  await got(`${pair.resource}/inventory/items?page=2`, ...bearer);
  const [token = ''] = await examples('docs/how-to/cache.md', 'sh cache-token');
  const told = (await runCommands(pair, token + lines)).slice(-3);
  expect(told.map((one) => JSON.parse(one) as unknown)).toEqual([
    { evicted: 1, soft: false },
    { banned: { path: '/images/*', status: '404' }, soft: false },
    { banned: { tag: 'news' }, soft: true },
  ]);
  const commands = await examples('docs/how-to/cache.md', 'sh cache-commands');
  const [purged, banned, bans, stats] = await runCommands(pair, commands.join(''));
  expect(purged).toContain('/inventory/items?page=2');
  expect(banned).toContain('/images/*');
  expect(bans).toContain('/images/*');
  // Until the first report after 30 s, the statistics are empty.
  expect(stats).toMatch(/\/inventory\/|No process has reported a cache/);
});
