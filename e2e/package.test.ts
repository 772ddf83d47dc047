/** The package of `npm run pack:product`, installed as npm installs it: below node_modules, where Node strips no types. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from './parts/free-port.ts';
import { packProduct } from './pack-product.ts';
import { startProcess } from './parts/process.ts';
import { temporaryFolder } from './parts/temporary-folder.ts';
import type { TemporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = new URL('../', import.meta.url).pathname;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

let folder: TemporaryFolder;
let installed: string;
let launcher: string;
let files: readonly string[];

beforeAll(async () => {
  folder = await temporaryFolder();
  const archive = packProduct(folder.path);

  const modules = join(folder.path, 'node_modules');
  installed = join(modules, 'countersign');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', archive, '-C', installed, '--strip-components=1']);
  const listed = await run('tar', ['-tzf', archive]);
  files = listed.stdout.trim().split('\n');

  const manifest = await readFile(join(installed, 'package.json'), 'utf8');
  for (const name of Object.keys((JSON.parse(manifest) as Manifest).dependencies)) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
  launcher = join(folder.path, 'countersign');
  await symlink(join(installed, 'shared/cli/countersign.js'), launcher);
});

afterAll(async () => folder[Symbol.asyncDispose]());

/** Runs the installed command in its folder. The environment has only these variables. */
async function countersign(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await run(process.execPath, [launcher, ...args], { cwd: folder.path, env });
  return stdout;
}

test('it holds the bundled product, the launcher and the documents, and nothing else', async () => {
  const built = files.flatMap((file) => /^package\/(dist\/.+\.js)$/.exec(file)?.[1] ?? []);
  const rest = files.filter((file) => !built.includes(file.replace('package/', '')));
  const found = await readdir(join(ROOT, 'docs'), { recursive: true });
  const docs = found
    .filter((path) => /\.\w+$/.test(path))
    .map((path) => `package/docs/${path}`)
    .toSorted((a, b) => a.localeCompare(b));
  expect(rest.toSorted((a, b) => a.localeCompare(b))).toEqual([
    'package/CHANGELOG.md',
    ...docs,
    'package/LICENSE',
    'package/package.json',
    'package/README.md',
    'package/SECURITY.md',
    'package/shared/cli/countersign.js',
    'package/shared/cli/packaged-node.js',
  ]);
  const texts = await Promise.all(built.map((file) => readFile(join(installed, file), 'utf8')));
  // Each file that was bundled is named before its code.
  const sources = texts.flatMap((text) => text.match(/^\/\/ \S+\.[a-z]+$/gm) ?? []);
  expect(sources).toContain('// resource-server/compose.ts');
  // package.json has the version.
  const OURS = /^\/\/ (?:(?:shared|authz-server|resource-server)\/|package\.json$)/;
  expect(sources.filter((source) => !OURS.test(source))).toEqual([]);
  expect(sources.filter((source) => /\b(test|fixture|contract|e2e)\b/.test(source))).toEqual([]);
});

test('its manifest has no script and nothing for development', async () => {
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as object;
  const places = new Set(['repository', 'homepage', 'bugs']);
  expect(Object.keys(manifest).filter((name) => !places.has(name))).toEqual([
    'name',
    'version',
    'description',
    'license',
    'bin',
    'type',
    'dependencies',
    'optionalDependencies',
    'engines',
  ]);
});

test('each link of its documents leads to a file of the package, or to a public address', async () => {
  const all = new Set(files.map((file) => file.replace('package/', '')));
  const there = (path: string) => [...all].some((file) => `${file}/`.startsWith(`${path}/`));
  const dead: string[] = [];
  let links = 0;
  for (const path of [...all].filter((file) => file.endsWith('.md'))) {
    const text = await readFile(join(installed, path), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s#]+)/g)) {
      links += 1;
      const isPublic = /^https?:\/\/|^mailto:/.test(target);
      const file = join(dirname(path), target).replace(/\/$/, '');
      if (!isPublic && !there(file)) dead.push(`${path}: ${target}`);
    }
  }
  expect(dead).toEqual([]);
  expect(links).toBeGreaterThan(300);
});

test('the launcher runs the command line', async () => {
  expect(await countersign(['--help'])).toContain('client add');
  expect(JSON.parse(await countersign(['config', 'print', '--json']))).toMatchObject({
    issuer: 'http://localhost:3000',
  });
});

test('start runs both servers: a token is issued, accepted, and refused once it is revoked', async () => {
  const ports = { authz: await freePort(), resource: await freePort() };
  const issuer = `http://127.0.0.1:${ports.authz}`;
  const resource = `http://127.0.0.1:${ports.resource}`;
  const listen = {
    authz: { port: ports.authz },
    authzTls: { port: 0 },
    resource: { port: ports.resource },
    resourceTls: { port: 0 },
    proxy: { port: 0 },
  };
  const config = join(folder.path, 'countersign.json');
  await writeFile(config, JSON.stringify({ issuer, resource, listen, data: './data' }));
  const env = { COUNTERSIGN_CONFIG: config };

  await using pair = await startProcess(process.execPath, [launcher, 'start'], {
    env,
    ready: (output) => output.includes('Both are ready.'),
  });
  // It proposes commands of the installed package.
  const firstStart = await readFile(join(folder.path, 'data/first-start.txt'), 'utf8');
  const home = await (await fetch(issuer)).text();
  for (const text of [pair.output, firstStart, home]) {
    expect(text).toMatch(/\bcountersign [a-z]/);
    expect(text).not.toMatch(/\bnpm\b/);
  }
  // The engine's own warnings, such as that of a Node that is not called LTS, tell an operator nothing.
  expect(pair.output).not.toContain('oidc-provider');
  const scope = ['--scope', 'documents:read'];
  const added = await countersign(
    ['client', 'add', '--name', 'Test', '--grant', 'client_credentials', ...scope, '--json'],
    env,
  );
  const { client_id, client_secret } = JSON.parse(added) as Record<string, string>;
  const post = (path: string, form: Record<string, string>) =>
    fetch(`${issuer}${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` },
      body: new URLSearchParams(form),
    });
  const answer = await post('/token', { grant_type: 'client_credentials' });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${resource}/documents/`, { headers })).status).toBe(200);
  expect((await post('/token/revocation', { token })).status).toBe(200);
  expect((await fetch(`${resource}/documents/`, { headers })).status).toBe(401);

  await pair.kill('SIGTERM');
  await expect(fetch(`${resource}/health/live`)).rejects.toThrow();
  await expect(fetch(`${issuer}/health/live`)).rejects.toThrow();
});
