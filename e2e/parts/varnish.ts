/** @needs varnishd */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { type RunningProcess, startProcess } from './process.ts';

export interface VarnishOptions {
  /** The origin behind Varnish. */
  readonly upstream: string;
  /** An existing folder for its configuration and its shared memory. */
  readonly folder: string;
}

/**
 * Returns the command of Debian's Varnish, with 256 MiB of memory, and its working folder. It caches
 * answers with an explicit lifetime, and keeps stale answers to validate them.
 */
export async function varnishCommand(
  { upstream, folder }: VarnishOptions,
  port: number,
): Promise<{ readonly command: string; readonly args: readonly string[]; readonly work: string }> {
  const { hostname, port: backend } = new URL(upstream);
  const file = join(folder, 'varnish.vcl');
  const work = join(folder, 'varnish');
  await mkdir(work);
  await writeFile(
    file,
    `vcl 4.1;\nbackend default { .host = "${hostname}"; .port = "${backend}"; }\n`,
  );
  const times = ['default_ttl=0', 'default_grace=0', 'default_keep=3600'];
  const args = [
    ['-F', '-j', 'none', '-n', work, '-T', 'none'],
    ['-a', `127.0.0.1:${port}`, '-f', file, '-s', 'malloc,256M'],
    times.flatMap((time) => ['-p', time]),
  ].flat();
  return { command: '/usr/sbin/varnishd', args, work };
}

/** Starts Varnish; the stack ends it. */
export async function startVarnish(
  stack: AsyncDisposableStack,
  options: VarnishOptions,
): Promise<{ readonly url: string; readonly process: RunningProcess }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { command, args } = await varnishCommand(options, port);
  const ready = async () => (await fetch(url)).status > 0;
  return { url, process: stack.use(await startProcess(command, args, { ready })) };
}
