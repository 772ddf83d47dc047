import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { kept } from './kept.ts';
import { PARTS } from './parts.ts';
import { needsOf, OLDER_NODES, OURS } from './needs.ts';
import stripTypes from './strip-types.ts';

const run = promisify(execFile);
const ROOT = new URL('../../', import.meta.url).pathname;
const JEST = ['--experimental-vm-modules', `${ROOT}node_modules/jest/bin/jest.js`];

test('a suite without other programs runs on a machine without them', async () => {
  await using nothing = await temporaryFolder();
  const { stderr } = await run(process.execPath, [...JEST, 'shared/http/etag.test.ts'], {
    cwd: ROOT,
    env: { PATH: nothing.path, HOME: nothing.path },
  });
  expect(stderr).toContain('1 passed, 1 total');
});

test('a suite that needs a missing program says what to install, and runs no test', async () => {
  await using nothing = await temporaryFolder();
  const suite = 'e2e/clients/scram/gsasl.test.ts';
  const asStranger = ['-e', `process.getuid = () => 1000; await import(process.argv[1])`];
  const started = run(
    process.execPath,
    [JEST[0] ?? '', '--input-type=module', ...asStranger, JEST[1] ?? '', suite],
    { cwd: ROOT, env: { PATH: nothing.path, HOME: nothing.path } },
  );
  await expect(started).rejects.toMatchObject({
    stderr: expect.stringMatching(/on Debian: sudo apt-get install .*\bgsasl\b/),
  });
});

test.each([
  ['shared/http/etag.test.ts', []],
  ['shared/stores/sqlite/contract.test.ts', []],
  // The word 'http' is no declaration of HTTPie.
  ['shared/auth/judge/judge.test.ts', []],
  ['shared/stores/redis/acknowledged.test.ts', ['redis-server']],
  ['shared/stores/postgres/database.test.ts', ['openssl', 'psql']],
  ['e2e/interop/forward-auth/forward-auth.test.ts', [OURS, 'caddy', 'nginx']],
  ['e2e/flows/accessibility.test.ts', ['chromium-headless-shell']],
  ['shared/cli/main.test.ts', [OURS]],
  ['e2e/clients/guard/guard.test.ts', [OLDER_NODES, OURS]],
  ['e2e/package.test.ts', []],
])('%s needs %j', (suite, expected) => {
  expect(needsOf([suite])).toEqual(new Set(expected));
});

test('each part is needed by a suite', () => {
  const all = globSync('{authz-server,resource-server,shared,e2e}/**/*.test.ts', { cwd: ROOT });
  expect(needsOf(all)).toEqual(
    new Set([OURS, OLDER_NODES, ...PARTS.map(({ program }) => program)]),
  );
});

const STARTS = {
  execFile: `await promisify(execFile)('openssl', ['version']).catch(() => 0)`,
  execFileSync: `execFileSync('/usr/bin/openssl', ['version'])`,
  spawnSync: `spawnSync('openssl')`,
};

test('a suite that starts a program, in any way, fails unless it declares the program', async () => {
  await using folder = await temporaryFolder();
  const expected: Record<string, unknown> = {};
  for (const [name, start] of Object.entries(STARTS)) {
    const [declared, undeclared] = [`${name}.test.ts`, `${name}-undeclared.test.ts`];
    const text = `import { ${name} } from 'node:child_process';
import { promisify } from 'node:util';
test('a test that passes', async () => void (${start}));
`;
    await writeFile(join(folder.path, declared), `/** @needs openssl */\n${text}`);
    const suite = join(folder.path, undeclared);
    await writeFile(suite, text);
    expected[declared] = '';
    expected[undeclared] = expect.stringContaining(
      `${suite} has to declare what it starts: write "/** @needs openssl */" at its top`,
    );
  }
  const config = JSON.stringify({
    rootDir: folder.path,
    extensionsToTreatAsEsm: ['.ts'],
    setupFilesAfterEnv: [join(ROOT, 'e2e/setup/undeclared.ts')],
    transform: { '\\.ts$': join(ROOT, 'e2e/setup/strip-types.ts') },
  });
  const { stdout } = await run(process.execPath, [
    ...JEST,
    '-i',
    '--json',
    '--config',
    config,
  ]).catch((failed: { stdout: string }) => failed);
  const { testResults } = JSON.parse(stdout) as {
    testResults: { name: string; message: string }[];
  };
  const told = testResults.map(({ name, message }) => [basename(name), message]);
  expect(Object.fromEntries(told)).toEqual(expected);
});

test('a module can declare only parts of the table', async () => {
  await using folder = await temporaryFolder();
  const suite = join(folder.path, 'none.test.ts');
  await writeFile(suite, '/** @needs none */\n');
  expect(() => needsOf([suite])).toThrow(`${suite} needs none: add its row to e2e/setup/parts.ts`);
});

test('npm ci bundles the source for the launcher, and its hints fit a clone', async () => {
  await run('npm', ['run', 'prepare'], { cwd: ROOT });
  const tells = `process.on('exit', () => console.log(process.argv[1]))`;
  const says = ['--import', `data:text/javascript,${tells}`];
  await using home = await temporaryFolder();
  const command = [...says, 'shared/cli/countersign.js', 'whoami'];
  const { stdout, stderr } = await run(process.execPath, command, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], HOME: home.path },
  }).catch((failed: { stdout: string; stderr: string }) => failed);
  expect(stdout).toContain(`${ROOT}node_modules/.cache/start/shared/cli/main.js\n`);
  expect(stderr).toContain('run npm run -s cli -- login');
});

test('a bundle is made again only if one of its files has changed or is missing', async () => {
  await using place = await temporaryFolder();
  const source = join(place.path, 'source');
  let times = 0;
  const made = async () => {
    await kept(join(place.path, 'made'), async (folder) => {
      await writeFile(join(folder, `${(times += 1)}`), '');
      return [source];
    });
    return times;
  };
  await writeFile(source, 'a');
  expect([await made(), await made()]).toEqual([1, 1]);
  const { atime, mtime } = await stat(source);
  await writeFile(source, 'b');
  await utimes(source, atime, mtime);
  expect([await made(), await made()]).toEqual([2, 2]);
  await rm(source);
  expect([await made(), await made()]).toEqual([3, 3]);
  await expect(readFile(join(place.path, 'made/3'), 'utf8')).resolves.toBe('');
  await expect(readFile(join(place.path, 'made/1'))).rejects.toThrow('ENOENT');
});

test('Jest runs each character of code at its place in the source, so that stack traces are right', () => {
  const source = 'type A = string;\nconst a = (b: A): A => b as A;\nexport { a };\n';
  const code = 'const a = (b   )    => b     ;';
  expect(stripTypes.process(source).code.split('\n')).toEqual([
    ' '.repeat(16),
    code,
    'export { a };',
    '',
  ]);
});
