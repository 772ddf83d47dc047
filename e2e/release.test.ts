/** @slow */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { notesOf } from './changelog.ts';
import { NODE } from './parts/process.ts';
import { temporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = new URL('../', import.meta.url).pathname;
const release = (...args: readonly string[]) =>
  run(process.execPath, ['e2e/release.ts', ...args], { cwd: ROOT, env: NODE });

test('a dry run makes the tarballs, the list of packages, the notes and their checksums', async () => {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8');
  const { version, dependencies } = JSON.parse(text) as {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const changelog = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8');
  await using folder = await temporaryFolder();
  const { stdout } = await release(version, '--dry-run', '--to', folder.path);
  expect(stdout).toContain('Left out: the image');

  const name = `countersign-${version}`;
  const made = [
    'NOTES.md',
    `${name}.cdx.json`,
    `${name}.tgz`,
    `countersign-resource-${version}.tgz`,
  ];
  expect((await readdir(folder.path)).toSorted()).toEqual([...made, 'SHA256SUMS'].toSorted());
  const read = (file: string) => readFile(join(folder.path, file));
  const sums = (await read('SHA256SUMS')).toString().trim().split('\n');
  for (const line of sums) {
    const [digest, file = ''] = line.split('  ');
    expect(
      createHash('sha256')
        .update(await read(file))
        .digest('hex'),
    ).toBe(digest);
  }
  expect(sums.map((line) => line.split('  ')[1])).toEqual(made.toSorted());
  expect((await read('NOTES.md')).toString()).toBe(notesOf(changelog, version));
  const list = JSON.parse((await read(`${name}.cdx.json`)).toString()) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
    readonly components: readonly { readonly name: string; readonly version: string }[];
  };
  expect(list).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'countersign', version } },
  });
  const listed = list.components.map((one) => `${one.name} ${one.version}`);
  for (const [one, pinned] of Object.entries(dependencies))
    expect(listed).toContain(`${one} ${pinned}`);
  expect(listed.join('\n')).not.toMatch(/^(?:jest|esbuild|typescript) /m);
  // The clone stays as it was.
  expect(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')).toBe(changelog);
});

test.each(['', '1.0', 'v1.0.0', '1.0.0-', '1.0.0-rc..1'])(
  'the version %j is refused',
  async (version) => {
    await expect(release(version)).rejects.toThrow('Name the version, such as');
  },
);
