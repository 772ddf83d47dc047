import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../parts/free-port.ts';
import { type Server, startServer } from '../../cpu.ts';
import type { CachePeer } from './cache-peer.ts';

/** Debian's Squid in one process, in front of one origin. */
export async function startSquidCache({ upstream, folder, keeps }: CachePeer): Promise<Server> {
  const port = await freePort();
  const file = join(folder, 'squid.conf');
  const place = keeps === 'on disk' ? onDisk(folder) : IN_MEMORY;
  await writeFile(file, configuration(new URL(upstream), folder, port, place));
  const name = ['-N', '-n', `cache${port}`, '-f', file];
  if (keeps === 'on disk') execFileSync('/usr/sbin/squid', [...name, '-z'], { stdio: 'ignore' });
  return startServer('/usr/sbin/squid', name, {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'stderr.log'),
    signal: 'SIGTERM',
  });
}

const IN_MEMORY = `
cache_mem 256 MB
maximum_object_size_in_memory 1 MB`;

const onDisk = (folder: string) => `
cache_mem 0 MB
maximum_object_size_in_memory 0 KB
cache_dir ufs ${folder}/kept 1000 16 256`;

const configuration = (upstream: URL, folder: string, port: number, place: string) => `
http_port 127.0.0.1:${port} accel defaultsite=localhost no-vhost
cache_peer ${upstream.hostname} parent ${upstream.port} 0 no-query no-digest originserver default name=application
visible_hostname localhost
http_access allow all
${place}
pinger_enable off
max_filedescriptors 4096
shutdown_lifetime 0 seconds
connect_retries 3
pid_filename ${folder}/squid.pid
access_log stdio:${folder}/access.log
cache_log ${folder}/cache.log
coredump_dir ${folder}
`;
