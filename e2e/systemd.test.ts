/** @needs systemd-analyze */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { examples } from './pair/examples.ts';

const run = promisify(execFile);
const UNIT = new URL('../docs/how-to/systemd/countersign.service', import.meta.url).pathname;

test('systemd-analyze security: the exposure of the unit is 1.5 or less', async () => {
  const asked = ['security', '--offline=true', '--no-pager', '--threshold=15', UNIT];
  const { stdout, stderr } = await run('systemd-analyze', asked);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/Overall exposure level .*: (?:0\.\d|1\.[0-5]) /);
});

test('the service may write to the backup folder that the guide sets', async () => {
  const [settings = ''] = await examples('docs/how-to/backup-restore-upgrade.md', 'json backup');
  const { folder } = (JSON.parse(settings) as { backup: { folder: string } }).backup;
  expect(await readFile(UNIT, 'utf8')).toContain(`\nReadWritePaths=-${folder}\n`);
});

test('the unit reloads by SIGHUP, and allows the servers more time to end than they need', async () => {
  const unit = await readFile(UNIT, 'utf8');
  expect(unit).toMatch(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  const [drain, grace] = [3, 10];
  expect(Number(seconds)).toBeGreaterThan(drain + grace);
});

test('compiled code is cached in a folder that only the service can write', async () => {
  const unit = await readFile(UNIT, 'utf8');
  const [, name = ''] = /^CacheDirectory=(.+)$/m.exec(unit) ?? [];
  expect(unit).toContain(`\nEnvironment=NODE_COMPILE_CACHE=/var/cache/${name}\n`);
  expect(unit).toContain('\nCacheDirectoryMode=0700\n');
});
