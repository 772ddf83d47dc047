import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { runScript } from './cli.fixture.ts';
import { isAsMade, noteMadeOf } from './made-of.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LAUNCHER = join(ROOT, 'shared/cli/countersign.js');
const SAYS = `console.log(process.version, process.argv.slice(2).join(' ')); process.exitCode = 7;`;

/** Makes the Node that runs the launcher report another version. */
const as = (version: string) => [
  '--import',
  `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`,
];

/** An installation of the package with these files. */
async function installed(files: Readonly<Record<string, string>>) {
  const root = await temporaryFolder();
  const all = { 'package.json': '{"type":"module"}', 'shared/cli/x': '', ...files };
  for (const [name, content] of Object.entries(all)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content, { mode: 0o755 });
  }
  for (const name of [
    'shared/cli/countersign.js',
    'shared/cli/packaged-node.js',
    'shared/cli/made-of.js',
  ]) {
    await copyFile(join(ROOT, name), join(root, name));
  }
  return join(root, 'shared/cli/countersign.js');
}

const PACKAGE = `node_modules/node-linux-${process.arch}`;

/** A package whose Node is the Node that runs this test. */
const PACKAGED = {
  [`${PACKAGE}/package.json`]: '{}',
  [`${PACKAGE}/bin/node`]: `#!/bin/sh\nexec '${process.execPath}' "$@"\n`,
};

test('a recent Node runs the command line itself, and passes on arguments and exit code', async () => {
  const { code, stdout } = await runScript([LAUNCHER, 'client', '--help'], {});
  expect(code).toBe(0);
  expect(stdout).toContain('client add');
  expect((await runScript([LAUNCHER, 'frobnicate'], {})).code).toBe(2);
});

test.each(['16.20.0', '20.20.2', '24.21.0', '25.9.0'])(
  'Node %s starts the packaged Node',
  async (version) => {
    const launcher = await installed({ ...PACKAGED, 'dist/shared/cli/main.js': SAYS });
    const { code, stdout, stderr } = await runScript([...as(version), launcher, 'a', '--b c'], {});
    expect([code, stdout, stderr]).toEqual([7, `${process.version} a --b c\n`, '']);
  },
);

test('on a system with musl, the launcher names the Node of the system before it starts the packaged one', async () => {
  const launcher = await installed(PACKAGED);
  const musl = [
    '--import',
    `data:text/javascript,import fs from "node:fs";import {syncBuiltinESMExports} from "node:module";const {existsSync}=fs;fs.existsSync=(path)=>!/ld-linux/.test(path)%26%26existsSync(path);syncBuiltinESMExports()`,
  ];
  const { code, stdout, stderr } = await runScript([...as('20.0.0'), ...musl, launcher], {});
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /needs glibc, which this system \(such as Alpine\) does not have: install /,
  );
});

describe('a packaged Node that this system cannot run', () => {
  const ENDED = (message: string, code: number) =>
    `#!/bin/sh\necho '${message}' >&2; exit ${code}\n`;
  const nodes: readonly (readonly [string, string, RegExp])[] = [
    [
      'without libatomic, which a minimal Debian does not have',
      ENDED('node: error while loading shared libraries: libatomic.so.1: cannot open', 127),
      /, since libatomic is missing. Install it \(Debian and Ubuntu: apt-get install libatomic1\), then run npm ci again\.\n$/,
    ],
    [
      'without its loader, as on Alpine',
      '#!/lib64/no-such-loader.so.2\n',
      /: it needs glibc, which Alpine does not have\. Install Node\.js 26 .*, then run npm ci again\.\n$/,
    ],
    [
      'with an older glibc',
      ENDED('node: version `GLIBC_2.28` not found', 1),
      /: node: version `GLIBC_2\.28` not found\. Install Node\.js 26 .*\n$/,
    ],
  ];
  const link = 'node_modules/.bin/node';

  test.each(nodes)('%s: one line says what to install', async (_, node, says) => {
    const launcher = await installed({
      [`${PACKAGE}/package.json`]: '{}',
      [`${PACKAGE}/bin/node`]: node,
      'dist/shared/cli/main.js': SAYS,
    });
    const { code, stdout, stderr } = await runScript([...as('20.20.2'), launcher], {});
    expect([code, stdout]).toEqual([expect.any(Number), '']);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(says);
    expect(stderr).toContain('The Node.js that npm has installed for Countersign cannot run');
  });

  test.each(nodes)("%s: npm uses the system's Node instead", async (_, node, says) => {
    const launcher = await installed({
      [`${PACKAGE}/package.json`]: '{}',
      [`${PACKAGE}/bin/node`]: node,
      [link]: '',
      'e2e/check-node.js': await readFile(join(ROOT, 'e2e/check-node.js'), 'utf8'),
    });
    const root = join(launcher, '../../..');
    const check = join(root, 'e2e/check-node.js');
    const { code, stderr } = await runScript([...as('20.20.2'), check], {});
    expect(code).toBe(1);
    expect(stderr).toMatch(says);
    await expect(stat(join(root, link))).rejects.toThrow('ENOENT');
    const { stderr: none, code: good } = await runScript([...as('26.0.0'), check], {});
    expect([good, none]).toEqual([0, '']);
  });

  const NO_PROCESS_LEFT = `import child from 'node:child_process';
    import { syncBuiltinESMExports } from 'node:module';
    child.spawnSync = (file) => ({ status: null, error: new Error('spawnSync ' + file + ' EAGAIN') });
    syncBuiltinESMExports();`;

  test.each([
    ['runs', '', 0, ''],
    ['nobody can try just now', NO_PROCESS_LEFT, 1, 'EAGAIN'],
  ])('a packaged Node that %s stays the Node that npm uses', async (_, before, expected, says) => {
    const launcher = await installed({
      ...PACKAGED,
      [link]: '',
      'e2e/check-node.js': await readFile(join(ROOT, 'e2e/check-node.js'), 'utf8'),
    });
    const root = join(launcher, '../../..');
    const check = ['--import', `data:text/javascript,${before}`, join(root, 'e2e/check-node.js')];
    const { code, stderr } = await runScript(check, {});
    expect([code, stderr]).toEqual([expected, expect.stringContaining(says)]);
    await stat(join(root, link));
  });
});

test('without a recent Node, one line says what to install', async () => {
  const launcher = await installed({ 'dist/shared/cli/main.js': SAYS });
  const { code, stdout, stderr } = await runScript([...as('20.20.2'), launcher], {});
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^Countersign needs Node\.js 26 or later\. This is v.*, and npm has installed no other for this system: install Node\.js 26 .*\n$/,
  );
});

test('--version prints the release, on any Node', async () => {
  const { code, stdout } = await runScript([...as('16.20.0'), LAUNCHER, '--version'], {});
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^countersign \d+\.\d+\.\d+\S*\n$/)]);
});

test.each(['26.0.0', '27.0.0'])('Node %s is recent enough', async (version) => {
  const launcher = await installed({ 'dist/shared/cli/main.js': SAYS });
  expect((await runScript([...as(version), launcher], {})).code).toBe(7);
});

test('start runs both servers, from source if the build may be outdated', async () => {
  const launcher = await installed({
    'dist/shared/start/main.js': `console.log('built')`,
    'shared/start/main.js': `console.log('source', process.argv.length)`,
    'shared/cli/main.ts': '',
  });
  expect((await runScript([launcher, 'start'], {})).stdout).toBe('source 2\n');
});

describe('the bundle that npm ci makes of the source', () => {
  const MADE = 'node_modules/.cache/start/made-of.json';
  const files = {
    'shared/cli/main.ts': `console.log('source')`,
    'node_modules/.cache/start/shared/cli/main.js': `console.log('bundle')`,
    'dist/shared/cli/main.js': `console.log('built')`,
    'shared/of/it.ts': 'it',
    'node_modules/of/it.js': 'it',
  };

  /** The launcher of a source tree whose bundle was made from these files. */
  async function bundledOf(...names: readonly string[]) {
    const launcher = await installed(files);
    const root = join(launcher, '../../..');
    await noteMadeOf(
      dirname(join(root, MADE)),
      names.map((name) => join('../../..', name)),
    );
    return { launcher, root };
  }
  const runs = async (launcher: string) => (await runScript([launcher], {})).stdout;
  /** Writes another content with the same length and the same time. */
  async function changeUnseen(file: string) {
    const { atime, mtime, size } = await stat(file);
    await writeFile(file, '/'.repeat(size));
    await utimes(file, atime, mtime);
  }
  const OF = ['shared/cli/main.ts', 'shared/of/it.ts', 'node_modules/of/it.js', 'absent'];

  test('is used until a source file changes, disappears or is added', async () => {
    const changes: ((root: string) => Promise<unknown>)[] = [
      (root) => writeFile(join(root, 'shared/of/it.ts'), 'longer'),
      (root) => changeUnseen(join(root, 'shared/of/it.ts')),
      (root) => changeUnseen(join(root, 'node_modules/of/it.js')),
      (root) => rm(join(root, 'shared/of/it.ts')),
      (root) => writeFile(join(root, 'absent'), ''),
    ];
    for (const change of changes) {
      const { launcher, root } = await bundledOf(...OF);
      expect(await runs(launcher)).toBe('bundle\n');
      await change(root);
      expect(await runs(launcher)).toBe('source\n');
    }
  });

  test('moves with a copy of the clone, and belongs to the copied files', async () => {
    const { root } = await bundledOf(...OF);
    const other = await temporaryFolder();
    await cp(root, other, { recursive: true });
    const launcher = join(other, 'shared/cli/countersign.js');
    expect(await runs(launcher)).toBe('bundle\n');
    await changeUnseen(join(other, 'shared/of/it.ts'));
    expect(await runs(launcher)).toBe('source\n');
    expect(await runs(join(root, 'shared/cli/countersign.js'))).toBe('bundle\n');
  });

  test('reads touched files once, and repeatedly if the result cannot be stored', async () => {
    const { launcher, root } = await bundledOf(...OF);
    const record = async () => readFile(join(root, MADE), 'utf8');
    const before = await record();
    await utimes(join(root, 'shared/of/it.ts'), 1, 1);
    expect([await runs(launcher), (await record()) === before]).toEqual(['bundle\n', false]);
    const after = await record();
    expect([await runs(launcher), await record()]).toEqual(['bundle\n', after]);
    await utimes(join(root, 'shared/of/it.ts'), 2, 2);
    // With this folder in its place the process cannot write the file.
    await mkdir(join(root, `${MADE}.${process.pid}`));
    expect(await isAsMade(dirname(join(root, MADE)))).toBe(true);
    expect(await record()).toBe(after);
  });

  test.each(['', 'null', '{', '{}'])('is not used if its record is %j', async (record) => {
    const { launcher, root } = await bundledOf();
    expect(await runs(launcher)).toBe('bundle\n');
    await writeFile(join(root, MADE), record);
    expect(await runs(launcher)).toBe('source\n');
  });
});

test.each(['help start', '--help start authz', '-h start', 'start --help', 'start -h'])(
  '%s says how to start the servers, and starts none',
  async (args) => {
    const { code, stdout } = await runScript([LAUNCHER, ...args.split(' ')], {});
    expect([code, stdout]).toEqual([0, expect.stringContaining('Usage: countersign start ')]);
  },
);

test('a signal reaches the process that runs the command', async () => {
  const waits = `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('up')`;
  const launcher = await installed({ ...PACKAGED, 'dist/shared/cli/main.js': waits });
  const child = spawn(process.execPath, [...as('20.20.2'), launcher], { stdio: 'pipe' });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(9);
});

describe("Node's compiled code is cached", () => {
  const CACHE = 'node_modules/.cache/countersign';
  const OTHER = `import { fork } from 'node:child_process'; fork(new URL('other.js', import.meta.url));`;
  const files = {
    'dist/shared/cli/main.js': OTHER,
    'dist/shared/cli/other.js': `console.log('other')`,
  };
  const kept = async (launcher: string, env = {}) => {
    expect((await runScript([launcher], env)).stdout).toBe('other\n');
    const found = await readdir(join(launcher, '../../..', CACHE), { recursive: true });
    return found.length;
  };

  test('beside the code, private to its user, also for child processes', async () => {
    const launcher = await installed(files);
    // A folder for Node's version, with the command line and its child process.
    expect(await kept(launcher)).toBe(3);
    const { mode } = await stat(join(launcher, '../../..', CACHE));
    expect(mode & 0o777).toBe(0o700);
  });

  test('not in a folder that other users can write, and not if the environment forbids it', async () => {
    const open = await installed({ ...files, [`${CACHE}/x`]: '' });
    await chmod(join(open, '../../..', CACHE), 0o777);
    expect(await kept(open)).toBe(1);
    const elsewhere = await temporaryFolder();
    const launcher = await installed({ ...files, [`${CACHE}/x`]: '' });
    expect(await kept(launcher, { NODE_COMPILE_CACHE: elsewhere })).toBe(1);
    expect(await readdir(elsewhere)).toHaveLength(1);
  });

  test('or the command runs without a cache if no folder can be created', async () => {
    const launcher = await installed({ ...files, 'node_modules/.cache': '' });
    const temporary = await temporaryFolder();
    expect((await runScript([launcher], { TMPDIR: temporary })).stdout).toBe('other\n');
    expect(await readdir(temporary)).toEqual([]);
  });
});
