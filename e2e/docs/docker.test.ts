/** @needs caddy */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig } from '#shared/config/load.ts';
import { isProduction } from '#shared/config/production.ts';
import { configWarnings } from '#shared/config/warnings.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

const FILE = new URL('../../docs/how-to/docker/docker-compose.yml', import.meta.url);

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment: Readonly<Record<string, string>> }>
  >;
  readonly configs: { readonly caddyfile: { readonly content: string } };
}

/** The compose file for one machine, with its two variables. */
async function compose(): Promise<Compose> {
  const text = await readFile(FILE, 'utf8');
  const filled = text
    .replaceAll(/\$\{COUNTERSIGN_AUTHZ_HOST[^}]*\}/g, 'auth.example')
    .replaceAll(/\$\{COUNTERSIGN_RESOURCE_HOST[^}]*\}/g, 'api.example');
  return parse(filled, { merge: true }) as Compose;
}

test('the compose file for one machine is a configuration for production without warnings', async () => {
  const { services } = await compose();
  await using folder = await temporaryFolder();
  const secret = join(folder.path, 'secret');
  await writeFile(secret, 's'.repeat(44), { mode: 0o444 });
  const config = await loadConfig({
    COUNTERSIGN_LISTEN: '0.0.0.0',
    ...services['countersign']?.environment,
    COUNTERSIGN_SECRET_FILE: secret,
  });
  expect(isProduction(config)).toBe(true);
  expect(configWarnings(config, 0)).toEqual([]);
});

test('Caddy takes the configuration of the compose file, with a site for each server', async () => {
  const { configs } = await compose();
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'Caddyfile');
  await writeFile(file, configs.caddyfile.content);
  const adapt = ['adapt', '--config', file, '--adapter', 'caddyfile', '--validate'];
  const { stdout } = await promisify(execFile)('caddy', adapt, {
    env: { PATH: process.env['PATH'], HOME: folder.path },
  });
  for (const place of ['auth.example', '10.204.0.3:3000', 'api.example', '10.204.0.3:3001']) {
    expect(stdout).toContain(`"${place}"`);
  }
});
