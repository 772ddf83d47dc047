/** @needs duplicity java perl */
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { examples } from '../pair/examples.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { program, succeed } from './dav/program.ts';
import { ALICE, identity, JASON } from './site.ts';

/**
 * Debian's Perl LWP, the JDK's HttpURLConnection, Apache HttpClient 4 and 5, and duplicity, with the
 * settings of the table in docs/reference/clients.md.
 */
let parts: AsyncDisposableStack;
let pair: Pair;
/** A HOME folder without settings. */
let home: string;
/** The configuration in docs/reference/clients.md. */
let shown: { spaces: readonly Record<string, unknown>[]; proxy: Record<string, unknown> };

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  const [block = ''] = await examples('docs/reference/clients.md', 'json clients');
  shown = JSON.parse(block) as typeof shown;
  const proxy = { ...shown.proxy, destinations: ['self'] };
  pair = parts.use(await startPair({ settings: { proxy } }));
  await pair.addPerson(ALICE.name, ALICE.password);
  home = parts.use(await temporaryFolder()).path;
});
afterAll(() => parts?.disposeAsync());

const SOURCES = new URL('http-clients/', import.meta.url).pathname;
const JARS = ['httpclient', 'httpcore', 'commons-logging', 'commons-codec'];
const JARS_5 = ['httpclient5', 'httpcore5', 'httpcore5-h2', 'slf4j-api'];
const CLASSES = [...JARS, ...JARS_5].map((name) => `/usr/share/java/${name}.jar`).join(':');

const java = (name: string) =>
  ['java', '-XX:TieredStopAtLevel=1', '-cp', CLASSES, `${SOURCES}${name}.java`] as const;
const LWP = ['perl', `${SOURCES}lwp.pl`] as const;

interface Asking {
  readonly password?: string;
  readonly via?: string;
}

/** Status and content of each answer to a "METHOD path", in one run of the client. */
async function ask(
  [command, ...args]: readonly [string, ...string[]],
  requests: readonly string[],
  { password = ALICE.password, via }: Asking = {},
): Promise<string[]> {
  const absolute = requests.map((request) => request.replace(' ', ` ${pair.resource}`));
  const env = { NAME: ALICE.name, PASSWORD: password, ...(via !== undefined && { VIA: via }) };
  const printed = await succeed(command, [...args, ...absolute], { home, env });
  return printed.trim().split(/\s*\n/);
}

const proxy = () => pair.proxies[0] ?? '';

test('the configuration of docs/reference/clients.md is part of the development configuration', async () => {
  // All realms of the pair, as an array.
  const realms = (await pair.cli('realm', 'list')) as unknown as Record<string, unknown>[];
  const [{ url = '', realm, schemes } = {}] = shown.spaces;
  const here = String(url).replace('https://api.example', pair.resource);
  expect(realms).toContainEqual(expect.objectContaining({ url: here, realm, schemes }));
});

describe.each(['HttpUrlConnection', 'ApacheClient4', 'ApacheClient5'])('%s', (name) => {
  test('uses Digest with SHA-256 if the server offers it, and Basic if the server offers only that', async () => {
    const paths = ['digest', 'digest', 'all', 'basic'].map((space) => `GET /schemes/${space}/`);
    const written = ['PUT', 'GET'].map((method) => `${method} /dav/${name}.txt`);
    expect(await ask(java(name), [...paths, ...written])).toEqual([
      `200 ${identity('Digest', 'digest')}`,
      `200 ${identity('Digest', 'digest')}`,
      `200 ${identity('Digest', 'all')}`,
      `200 ${identity('Basic', 'basic')}`,
      '201',
      '200 hello',
    ]);
  });

  test('is admitted by the proxy, and by the origin behind it', async () => {
    const through = await ask(java(name), ['GET /schemes/digest/'], { via: proxy() });
    expect(through).toEqual([`200 ${identity('Digest', 'digest')}`]);
  });
});

describe('Apache HttpClient', () => {
  test.each(['ApacheClient4', 'ApacheClient5'])(
    "%s gets 401 with another person's password",
    async (name) => {
      const refused = await ask(java(name), ['GET /dav/'], { password: JASON.password });
      expect(refused).toEqual([expect.stringMatching(/^401 /)]);
    },
  );
});

describe('LWP', () => {
  test('answers a SHA-256 challenge with MD5 and is refused, even if other schemes are offered', async () => {
    const paths = ['/schemes/digest/', '/schemes/all/', '/dav/'].map((path) => `GET ${path}`);
    expect(await ask(LWP, paths)).toEqual([
      expect.stringMatching(/^401 /),
      expect.stringMatching(/^401 /),
      expect.stringMatching(/^400 /),
    ]);
  });

  test('writes and reads if the server offers Basic only', async () => {
    const requests = ['PUT', 'GET'].map((method) => `${method} /dav-basic/lwp.txt`);
    expect(await ask(LWP, requests)).toEqual(['201', '200 hello']);
  });

  test("is admitted by the proxy with name and password in the proxy's URL", async () => {
    const request = ['GET /schemes/basic/'];
    const via = new URL(proxy());
    expect(await ask(LWP, request, { via: via.href })).toEqual([expect.stringMatching(/^407 /)]);
    via.username = ALICE.name;
    via.password = encodeURIComponent(ALICE.password);
    const through = await ask(LWP, request, { via: via.href });
    expect(through).toEqual([`200 ${identity('Basic', 'basic')}`]);
  });

  test("gets 401 with another person's password", async () => {
    const refused = await ask(LWP, ['GET /dav-basic/'], { password: JASON.password });
    expect(refused).toEqual([expect.stringMatching(/^401 /)]);
  });
});

describe('duplicity', () => {
  const OPTIONS = ['--no-encryption', '--num-retries', '1', '--archive-dir', 'cache'];
  const backup = (space: string) =>
    `${pair.resource.replace('http://', `webdav://${ALICE.name}@`)}/${space}/backup`;
  const env = { FTP_PASSWORD: ALICE.password };

  beforeAll(async () => {
    await mkdir(join(home, 'mine'));
    await writeFile(join(home, 'mine/letter.txt'), 'Dear diary\n');
    // duplicity does not notice changes within the same second.
    await utimes(join(home, 'mine/letter.txt'), 0, 0);
  });

  test('fails at Digest with SHA-256, although the server offers Basic, too', async () => {
    const args = ['full', ...OPTIONS, 'mine', backup('dav')];
    const { code, errors } = await program('duplicity', args, { home, env });
    expect([code, errors]).toEqual([50, expect.stringContaining("algorithm 'SHA-256'")]);
  });

  test('backs up, also in increments, and restores if the server offers Basic only', async () => {
    const url = backup('dav-basic');
    const run = (...args: readonly string[]) => succeed('duplicity', args, { home, env });
    await run('full', ...OPTIONS, 'mine', url);
    await writeFile(join(home, 'mine/letter.txt'), 'Dear diary, again\n');
    await run('incremental', ...OPTIONS, 'mine', url);
    await run('verify', '--compare-data', ...OPTIONS, url, 'mine');
    await run('restore', ...OPTIONS, url, 'restored');
    expect(await readFile(join(home, 'restored/letter.txt'), 'utf8')).toBe('Dear diary, again\n');
    const status = await run('collection-status', ...OPTIONS, url);
    expect(status).toMatch(/Full [^]*Incremental /);
  });
});
