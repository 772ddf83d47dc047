/** @needs git-annex */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { succeed } from './dav/program.ts';
import { ALICE } from './site.ts';

/** Debian's git-annex 10, which does not escape Destination. */
const NAMES = ['a b.txt', 'ümläut ß 日本.txt', 'plain.txt'];

let site: DavSite;
let home: string;
beforeAll(async () => {
  site = await startDavSite();
  home = join(site.home, 'annex');
  await mkdir(home);
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'alice');
  await git('config', 'user.email', 'alice@example.org');
  await annex('init', '--quiet');
  // By default git-annex refuses addresses of this machine.
  await git('config', 'annex.security.allowed-ip-addresses', 'all');
});
afterAll(async () => site[Symbol.asyncDispose]());

const run =
  (program: string) =>
  (...args: readonly string[]) =>
    succeed(program, args, {
      home,
      env: { WEBDAV_USERNAME: ALICE.name, WEBDAV_PASSWORD: ALICE.password },
    });
const git = run('git');
const annex = run('git-annex');

test('git-annex exports a tree, moves files in it, and leaves no temporary file', async () => {
  const remote = ['type=webdav', `url=${site.url}`, 'encryption=none', 'exporttree=yes'];
  await annex('initremote', '--quiet', 'dav', ...remote);
  for (const name of NAMES) await writeFile(join(home, name), `content of ${name}`);
  await annex('add', '--quiet', '.');
  await git('commit', '--quiet', '-m', 'Names');
  await annex('export', '--quiet', 'main', '--to', 'dav');
  expect(await names()).toEqual(NAMES.toSorted());

  await git('mv', 'a b.txt', 'c d.txt');
  await git('commit', '--quiet', '-m', 'Another name');
  await annex('export', '--quiet', 'main', '--to', 'dav');
  expect(await names()).toEqual(['c d.txt', ...NAMES.slice(1)].toSorted());
});

/** The names in the tree, except git-annex's own files. */
async function names(): Promise<readonly string[]> {
  const headers = {
    Authorization: `Basic ${btoa(`${ALICE.name}:${ALICE.password}`)}`,
    Depth: '1',
  };
  const answer = await fetch(site.url, { method: 'PROPFIND', headers });
  const hrefs = [...(await answer.text()).matchAll(/<D:href>\/dav\/([^<]+)<\/D:href>/g)];
  return hrefs.map(([, href = '']) => decodeURIComponent(href)).toSorted();
}
