/** @needs aria2c elinks http lynx wget2 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ONE_STORE } from '../flows/flow.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { startProxySite } from './proxy-site.ts';
import type { ProxySite } from './proxy-site.ts';
import { identity } from './site.ts';

/**
 * Downloaders and text browsers of Debian with default settings: which schemes each supports, and where
 * each fails.
 */
const run = promisify(execFile);

/** ELinks does not decode a password in a URL. */
const WALTER = { name: 'walter', password: 'plain-enough' };
const USER = `${WALTER.name}:${WALTER.password}`;
const withUser = (url: string) => url.replace('http://', `http://${USER}@`);

type Scheme = 'basic' | 'digest';

/** The URL to download, and the file for a program that does not print. */
interface Fetch {
  readonly url: string;
  readonly scheme: Scheme;
  readonly file: string;
}

interface Program {
  readonly command: string;
  readonly args: (fetch: Fetch) => readonly string[];
  /** The value of the proxy variable in the environment. */
  readonly proxy: (url: string) => string;
}

const PROGRAMS = {
  wget2: {
    command: 'wget2',
    args: ({ url }) => [
      ...'--quiet --output-document=- --tries=1 --timeout=20'.split(' '),
      `--user=${WALTER.name}`,
      `--password=${WALTER.password}`,
      url,
    ],
    proxy: withUser,
  },
  httpie: {
    command: 'http',
    args: ({ url, scheme }) => [
      ...'--ignore-stdin --check-status --body --timeout=20'.split(' '),
      `--auth=${USER}`,
      `--auth-type=${scheme}`,
      url,
    ],
    proxy: withUser,
  },
  lynx: {
    command: 'lynx',
    args: ({ url }) => ['-source', `-auth=${USER}`, `-pauth=${USER}`, url],
    proxy: (url) => url,
  },
  elinks: {
    command: 'elinks',
    args: ({ url }) => ['-dump', '-dump-width', '500', withUser(url)],
    proxy: withUser,
  },
  aria2: {
    command: 'aria2c',
    args: ({ url, file }) => [
      ...'--quiet --no-conf --max-tries=1 --timeout=20'.split(' '),
      `--dir=${dirname(file)}`,
      `--out=${basename(file)}`,
      `--http-user=${WALTER.name}`,
      `--http-passwd=${WALTER.password}`,
      url,
    ],
    proxy: withUser,
  },
} as const satisfies Readonly<Record<string, Program>>;

/** How the program ended, and what it wrote. */
interface Ended {
  readonly code: number;
  readonly text: string;
}

async function fetchWith(
  name: keyof typeof PROGRAMS,
  url: string,
  scheme: Scheme,
  proxy?: string,
): Promise<Ended> {
  await using home = await temporaryFolder();
  // Without this file HTTPie looks for a newer version of itself on the network.
  const httpie = join(home.path, '.config', 'httpie');
  await mkdir(httpie, { recursive: true });
  await writeFile(join(httpie, 'config.json'), '{"disable_update_warnings": true}');
  const file = join(home.path, 'answer');
  const program: Program = PROGRAMS[name];
  const env = {
    PATH: process.env['PATH'],
    HOME: home.path,
    LC_ALL: 'C.UTF-8',
    TERM: 'dumb',
    // By default some programs use no proxy for a server on this machine.
    ...(proxy !== undefined && { http_proxy: program.proxy(proxy), no_proxy: '' }),
  };
  const args = program.args({ url, scheme, file });
  const ended = await run(program.command, args, { env, timeout: 170_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      text: error.stdout + error.stderr,
    }),
  );
  const written = await readFile(file, 'utf8').catch(() => '');
  return { code: ended.code, text: (ended.text + written).trim() };
}

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: ProxySite;
  beforeAll(async () => {
    site = await startProxySite(kind, () => ({ destinations: ['self'] }));
    await site.pair.addPerson(WALTER.name, WALTER.password);
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  const url = (space: string) => `${site.pair.resource}/schemes/${space}/`;
  const proxy = () => `http://${site.proxy.host}:${site.proxy.port}/`;

  test.each<[keyof typeof PROGRAMS, string, Scheme]>([
    ['wget2', 'basic', 'basic'],
    ['httpie', 'basic', 'basic'],
    ['httpie', 'all', 'basic'],
    ['httpie', 'digest', 'digest'],
    ['lynx', 'basic', 'basic'],
    ['lynx', 'all', 'basic'],
    ['elinks', 'basic', 'basic'],
    ['elinks', 'all', 'basic'],
    ['aria2', 'basic', 'basic'],
    ['aria2', 'all', 'basic'],
  ])('%s is admitted at /schemes/%s/ by %s', async (program, space, scheme) => {
    const text = identity(scheme === 'basic' ? 'Basic' : 'Digest', space, WALTER);
    expect(await fetchWith(program, url(space), scheme)).toEqual({ code: 0, text });
  });

  // wget2, lynx, ELinks and aria2 support no SHA-256 or no Digest. HTTPie's library sees no Digest behind
  // other challenges.
  test.each<[keyof typeof PROGRAMS, string, Scheme, number, RegExp]>([
    ['wget2', 'all', 'basic', 6, /^$/],
    ['wget2', 'digest', 'digest', 6, /^$/],
    ['httpie', 'all', 'digest', 4, /"status":401/],
    ['lynx', 'digest', 'digest', 1, /Can't retry with authorization/],
    ['elinks', 'digest', 'digest', 0, /"status":401/],
    ['aria2', 'digest', 'digest', 24, /^$/],
  ])('%s finds no supported challenge at /schemes/%s/ (%s)', async (...row) => {
    const [program, space, scheme, code, says] = row;
    const ended = await fetchWith(program, url(space), scheme);
    expect(ended).toEqual({ code, text: expect.stringMatching(says) as unknown });
  });

  test.each(['httpie', 'lynx', 'aria2'] as const)(
    '%s is admitted by the forward proxy',
    async (program) => {
      const text = identity('Basic', 'basic', WALTER);
      expect(await fetchWith(program, url('basic'), 'basic', proxy())).toEqual({ code: 0, text });
    },
  );
  test('RFC 9110 section 4.2.4: ELinks sends name and password in the target to a proxy', async () => {
    const { text } = await fetchWith('elinks', url('basic'), 'basic', proxy());
    expect(text).toMatch(/"status":400.*4\.2\.4/);
  });
});
