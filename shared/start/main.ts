import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#shared/base/clock.ts';
import { entryFile } from '#shared/base/entry.ts';
import { loadConfig } from '#shared/config/load.ts';
import { localOrigin } from '#shared/config/local-origin.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { isProduction } from '#shared/config/production.ts';
import { printable, printableLines } from '#shared/base/printable.ts';
import { banner } from './banner.ts';
import { runPair } from './pair.ts';

/** The two servers; their source, or beside the compiled start the compiled ones. */
const PARTS = [
  { name: 'authorization server', folder: 'authz-server' },
  { name: 'resource server', folder: 'resource-server' },
].map(({ name, folder }) => ({
  name,
  file: entryFile(`${folder}/main`),
}));

const complain = (lines: string) => void process.stderr.write(`${printableLines(lines)}\n`);

async function start(): Promise<number> {
  const config = await loadConfig(process.env);
  return runPair(PARTS, {
    // The public way may lead through a proxy with a certificate that only browsers know, or not lead back here.
    env: { COUNTERSIGN_AUTHZ_URL: localOrigin(config.listen.authz), ...process.env },
    clock: systemClock,
    signals: process,
    complain,
    announce([authz, resource]) {
      if (authz === undefined || resource === undefined) return;
      const kept = join(config.data, 'first-start.txt');
      const firstStart = !isProduction(config) && existsSync(kept) ? kept : undefined;
      const lines = banner(config, authz, resource, firstStart);
      process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));
    },
  });
}

process.exitCode = await start().catch((error: unknown) => {
  if (!(error instanceof ConfigError)) throw error;
  complain(error.message);
  return 1;
});
