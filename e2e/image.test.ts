/** Builds what the Dockerfile builds, by its own lines: no engine for images is needed to see that it starts. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from './parts/free-port.ts';
import { startProcess, until } from './parts/process.ts';
import { temporaryFolder } from './parts/temporary-folder.ts';
import type { TemporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = new URL('../', import.meta.url).pathname;

/** Instructions that need no work here: what they say of the user and the base is the engine's. */
const SAID = new Set(['FROM', 'WORKDIR', 'USER', 'HEALTHCHECK', 'CMD']);

const text = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
const LINES = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const [, CMD = ''] = /^CMD (.+)$/m.exec(text) ?? [];
const command = JSON.parse(CMD) as readonly string[];

let folder: TemporaryFolder;
/** WORKDIR. */
let app: string;
let env: Record<string, string>;

/** In the image `/data` is the volume, and `node` who runs there. */
const here = (line: string) => line.replaceAll('/data', `${folder.path}/data`);

beforeAll(async () => {
  folder = await temporaryFolder();
  app = join(folder.path, 'app');
  const bin = join(folder.path, 'bin');
  await Promise.all([mkdir(app), mkdir(bin)]);
  await symlink(process.execPath, join(bin, 'node'));
  env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: process.env['HOME'] ?? '',
    npm_config_prefer_offline: 'true', // the packages that this machine has installed a moment ago
  };
});
// Jest gives each line as much time as a test.
for (const line of LINES) beforeAll(() => build(line));

afterAll(async () => folder[Symbol.asyncDispose]());

async function build(line: string): Promise<void> {
  const [instruction = '', rest = ''] = line.split(/ (.*)/s);
  if (SAID.has(instruction)) return;
  if (instruction === 'ENV') {
    const [name = '', value = ''] = rest.split('=');
    env[name] = here(value);
  } else if (instruction === 'COPY') {
    const [target = '', ...sources] = rest.split(' ').toReversed();
    for (const source of sources) await copy(source, join(app, target === './' ? source : target));
  } else if (instruction === 'RUN') {
    // The cache of npm is the image's own there, and this machine's here.
    const script = here(rest)
      .replace('-o node -g node ', '')
      .replace(' && npm cache clean --force', '');
    await run('sh', ['-ec', script], { cwd: app, env });
  } else {
    throw new Error(`not known here: ${line}`);
  }
}

/** Copies the files that `.dockerignore` lets through. */
async function copy(source: string, target: string): Promise<void> {
  const ignored = /\.(test|fixture)\.ts$|\/stores\/contract$|\/node_modules$/;
  await mkdir(dirname(target), { recursive: true });
  await cp(join(ROOT, source), target, {
    recursive: true,
    filter: (path) => !ignored.test(path.slice(ROOT.length - 1)),
  });
}

async function configured(members: object): Promise<NodeJS.ProcessEnv> {
  const file = join(folder.path, 'countersign.json');
  await writeFile(file, JSON.stringify(members));
  return { ...env, COUNTERSIGN_CONFIG: file };
}

test('the image starts both servers and the command line, and a person can sign in by password', async () => {
  const ports = { authz: await freePort(), resource: await freePort() };
  const resource = `http://127.0.0.1:${ports.resource}`;
  const settings = await configured({
    issuer: `http://127.0.0.1:${ports.authz}`,
    resource,
    listen: {
      authz: { port: ports.authz },
      authzTls: { port: 0 },
      resource: { port: ports.resource },
      resourceTls: { port: 0 },
      proxy: { port: 0 },
    },
  });
  const [program = '', ...args] = command;
  await using pair = await startProcess(program, args, {
    cwd: app,
    env: settings,
    ready: (output) => output.includes('Both are ready.'),
  });

  expect(pair.output).not.toContain('oidc-provider');

  const cli = run('node', ['shared/cli/main.ts', 'user', 'add', 'alice', '--password-stdin'], {
    cwd: app,
    env: settings,
  });
  cli.child.stdin?.end('correct horse battery');
  await cli;
  const authorization = `Basic ${btoa('alice:correct horse battery')}`;
  const answer = await fetch(`${resource}/schemes/basic/`, { headers: { authorization } });
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { principal: { name: 'alice' } },
  ]);
  for (const port of Object.values(ports)) {
    await until(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 200);
  }
  await pair.kill('SIGTERM');
});

test('the image holds no Node but its own', async () => {
  const { stdout } = await run('find', ['node_modules', '-name', 'node', '-size', '+1M'], {
    cwd: app,
  });
  expect(stdout).toBe('');
});
