/** @countersign/resource: its files, its dependencies, and the findings of package checkers. */
import { execFile } from 'node:child_process';
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ROOT } from './bundle.ts';
import { installResource } from './clients/guard/install.ts';
import { EVERY_NODE } from './parts/older-nodes.ts';
import { NODE } from './parts/process.ts';
import { temporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);
const tool = (name: string) => join(ROOT, 'node_modules/.bin', name);
/** The limit in bytes. */
const LARGEST = 64 * 1024;

const parts = new AsyncDisposableStack();
let folder: string;
let tarball: string;
let installed: string;
let files: readonly string[];

beforeAll(async () => {
  folder = parts.use(await temporaryFolder()).path;
  const types = ['@types/node', '@types/express', '@types/koa'];
  const frameworks = ['express', 'fastify', 'hono', 'koa', 'redis', 'ioredis'];
  tarball = await installResource(folder, [...types, ...frameworks]);
  installed = join(folder, 'node_modules/@countersign/resource');
  const { stdout } = await run('tar', ['-tzf', tarball]);
  files = stdout
    .trim()
    .split('\n')
    .map((file) => file.replace('package/', ''))
    .toSorted((a, b) => (a < b ? -1 : 1));
});
afterAll(() => parts.disposeAsync());

test('the package has the files of library.txt, and at most 64 KiB', async () => {
  const listed = await readFile(new URL('library.txt', import.meta.url), 'utf8');
  expect(files.join('\n')).toBe(listed.trim());
  expect((await stat(tarball)).size).toBeLessThan(LARGEST);
});

test('the package needs no other package, and nothing of a server', async () => {
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as object;
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  expect(manifest).toMatchObject({ name: '@countersign/resource', version, license: 'Apache-2.0' });
  expect(Object.keys(manifest).filter((name) => /dependencies|scripts|bin/i.test(name))).toEqual(
    [],
  );
  const rooms = new Set(files.map((file) => /^shared\/[^/]+/.exec(file)?.[0] ?? ''));
  expect([...rooms].filter((room) => /server|config|people|keys|client|cli/.test(room))).toEqual(
    [],
  );
  const code = files.filter((file) => file.endsWith('.js'));
  const texts = await Promise.all(code.map((file) => readFile(join(installed, file), 'utf8')));
  const named = texts.flatMap((text) =>
    [...text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'".#][^'"]*)/g)].map(
      ([, name = '']) => name,
    ),
  );
  expect(named).toContain('node:crypto');
  expect(named.filter((name) => !isBuiltin(name))).toEqual([]);
});

test('publint finds no fault', async () => {
  const { stdout } = await run(process.execPath, [
    tool('publint'),
    'run',
    installed,
    '--strict',
    '--pack',
    'false',
  ]);
  expect(stdout).toContain('All good!');
});

test('Are the Types Wrong finds no fault', async () => {
  const args = [
    '--profile',
    'esm-only',
    '--no-definitely-typed',
    '--no-emoji',
    '--format',
    'ascii',
  ];
  const { stdout } = await run(process.execPath, [tool('attw'), ...args, tarball]);
  expect(stdout).toContain('node16 (from ESM): OK (ESM)');
  expect(stdout).toContain('bundler: OK');
});

/** Compiles files beside the installation; resolves to the errors. */
async function compile(names: readonly string[], options: object): Promise<string> {
  const settings = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    exactOptionalPropertyTypes: true,
  };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...settings, ...options }, files: names }),
  );
  return run(tool('tsc'), ['--project', folder], { cwd: folder }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

/** The programs in the package's README. */
async function programs(): Promise<readonly string[]> {
  const readme = await readFile(join(installed, 'README.md'), 'utf8');
  return [...readme.matchAll(/```(?:js|ts)\n([^]*?)```/g)].map(([, program = '']) => program);
}

test('every program of its README compiles in strict TypeScript unchanged', async () => {
  const names = await Promise.all(
    (await programs()).map(async (program, n) => {
      await writeFile(join(folder, `readme-${n}.mts`), program);
      return `readme-${n}.mts`;
    }),
  );
  expect(names.length).toBeGreaterThan(6);
  expect(await compile(names, { types: ['node'], skipLibCheck: true })).toBe('');
});

test.each(Object.entries(EVERY_NODE))(
  'the unit test of its README passes on Node %s',
  async (_, node) => {
    const program = (await programs()).find((text) => text.includes('node:test')) ?? '';
    await writeFile(join(folder, 'notes.test.mts'), program);
    const { stdout } = await run(node, ['--test', 'notes.test.mts'], {
      cwd: folder,
      env: NODE,
    });
    expect(stdout).toMatch(/^(?:#|ℹ) pass 3$/m);
  },
);

test('handlers behind the guard have types in each framework', async () => {
  await copyFile(new URL('clients/guard/typed.mts', import.meta.url), join(folder, 'typed.mts'));
  expect(await compile(['typed.mts'], { types: ['node'], skipLibCheck: true })).toBe('');
});

test("the package's types need neither Node nor a framework", async () => {
  const text = `import { protect } from '@countersign/resource';
export const guard = protect({ issuer: 'https://a.example', resource: 'https://b.example', scopes: [] });
export const answer: Promise<Response> = guard.judge(new Request('x')).then((verdict) =>
  verdict.ok ? new Response(verdict.principal.kind) : verdict.response,
);
`;
  await writeFile(join(folder, 'bare.mts'), text);
  expect(
    await compile(['bare.mts'], { types: [], lib: ['es2022', 'dom'], skipLibCheck: false }),
  ).toBe('');
});

test('each public function has an example', async () => {
  const text = await readFile(join(installed, 'shared/guard/guard.d.ts'), 'utf8');
  const functions = [...text.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*(\w+)\(/g)];
  expect(functions.map(([, , name]) => name)).toEqual([
    'judge',
    'node',
    'koa',
    'fastify',
    'scopes',
    'tools',
    'signIn',
    'metadata',
    'close',
  ]);
  for (const [, comment] of functions) expect(comment).toContain('@example');
  expect(await readFile(join(installed, 'shared/guard/protect.d.ts'), 'utf8')).toContain(
    '@example',
  );
});
