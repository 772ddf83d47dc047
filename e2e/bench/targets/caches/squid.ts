import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../parts/free-port.ts';
import { type Server, startServer } from '../../cpu.ts';
import type { CachePeer } from './cache-peer.ts';

/** Debian's Squid in one process in front of one origin, which stores answers in memory. */
export async function startSquidCache({ upstream, folder }: CachePeer): Promise<Server> {
  const port = await freePort();
  const file = join(folder, 'squid.conf');
  await writeFile(file, configuration(new URL(upstream), folder, port));
  const name = ['-N', '-n', `cache${port}`, '-f', file];
  return startServer('/usr/sbin/squid', name, {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'stderr.log'),
    signal: 'SIGTERM',
  });
}

const configuration = (upstream: URL, folder: string, port: number) => `
http_port 127.0.0.1:${port} accel defaultsite=localhost no-vhost
cache_peer ${upstream.hostname} parent ${upstream.port} 0 no-query no-digest originserver default name=application
visible_hostname localhost
http_access allow all
cache_mem 256 MB
maximum_object_size_in_memory 1 MB
pinger_enable off
max_filedescriptors 4096
shutdown_lifetime 0 seconds
connect_retries 3
pid_filename ${folder}/squid.pid
access_log stdio:${folder}/access.log
cache_log ${folder}/cache.log
coredump_dir ${folder}
`;
