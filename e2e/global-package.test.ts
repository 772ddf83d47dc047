/**
 * The package as an operator installs it: by npm, globally, with its dependencies, and run with the
 * settings of the systemd unit.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { freePort } from './parts/free-port.ts';
import { packProduct } from './pack-product.ts';
import { startProcess, until } from './parts/process.ts';
import { temporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);
const UNIT = new URL('../docs/how-to/systemd/countersign.service', import.meta.url).pathname;

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());

test("npm install --global: start runs workers with the unit's variables, SIGHUP replaces them, and SIGTERM ends all", async () => {
  const folder = parts.use(await temporaryFolder());
  const archive = packProduct(folder.path);
  const prefix = join(folder.path, 'prefix');
  const options = ['--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, archive], { cwd: folder.path });

  // The unit's variables and umask, with paths in this folder.
  const unit = await readFile(UNIT, 'utf8');
  const env: Record<string, string> = { PATH: process.env['PATH'] ?? '' };
  for (const [, name = '', value = ''] of unit.matchAll(/^Environment=(\w+)=(.+)$/gm)) {
    env[name] = value.replace(/^\/(?:etc|var\/lib)/, folder.path);
  }
  const [, umask = ''] = /^UMask=(\d+)$/m.exec(unit) ?? [];
  expect(Object.keys(env)).toContain('COUNTERSIGN_SECRET_FILE');
  expect(umask).toBe('0077');
  await mkdir(join(folder.path, 'countersign'));
  const [authz, resource] = await Promise.all([freePort(), freePort()]);
  await writeFile(env['COUNTERSIGN_SECRET_FILE'] ?? '', 'a master secret of thirty-two bytes', {
    mode: 0o400,
  });
  const none = { port: 0 };
  await writeFile(
    env['COUNTERSIGN_CONFIG'] ?? '',
    JSON.stringify({
      issuer: 'https://auth.example',
      resource: 'https://api.example',
      trustedProxies: ['127.0.0.1'],
      listen: { authz: { port: authz }, resource: { port: resource }, authzTls: none },
      server: { drain: 0 },
    }),
  );
  const installed = join(prefix, 'bin/countersign');
  const started = ['-c', `umask ${umask}; exec "$0" start --workers 2`, installed];
  const pair = parts.use(
    await startProcess('sh', started, { env, ready: (output) => output.includes('ready.') }),
  );
  const isReady = async (port: number) =>
    (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 200;
  for (const port of [authz, resource]) await until(() => isReady(port));
  // Without a terminal, as under systemd.
  pair.signal('SIGHUP');
  await until(() => pair.output.split('"workers.replaced"').length === 3);
  for (const port of [authz, resource]) await until(() => isReady(port));
  const data = env['COUNTERSIGN_DATA'] ?? '';
  expect((await stat(join(data, 'state.db'))).mode & 0o777).toBe(0o600);
  await pair.kill('SIGTERM');
  expect(pair.exitCode).toBe(0);
});
