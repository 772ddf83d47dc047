import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';
import { openFolder } from './open-folder.ts';

export interface SquidOptions {
  readonly username: string;
  readonly password: string;
  /** The folder for configuration and logs. */
  readonly folder: string;
}

/** Debian's Squid in one process, which opens any tunnel for a client with the right password by Basic. */
export async function startSquid({
  username,
  password,
  ...options
}: SquidOptions): Promise<Server> {
  const port = await freePort();
  const folder = await openFolder(options.folder, 'squid');
  const passwords = join(folder, 'passwords');
  await writeFile(passwords, execFileSync('htpasswd', ['-nbm', username, password]));
  const file = join(folder, 'squid.conf');
  await writeFile(file, configuration(folder, port, passwords));
  // The name separates its shared memory from other Squids'. Squid removes the memory when it ends
  // properly.
  return startServer('/usr/sbin/squid', ['-N', '-n', `bench${port}`, '-f', file], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'stderr.log'),
    signal: 'SIGTERM',
  });
}

const configuration = (folder: string, port: number, passwords: string) => `
http_port 127.0.0.1:${port}
visible_hostname localhost
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${passwords}
auth_param basic children 1
auth_param basic realm proxy
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
cache deny all
pinger_enable off
max_filedescriptors 4096
shutdown_lifetime 0 seconds
pid_filename ${folder}/squid.pid
access_log stdio:${folder}/access.log
cache_log ${folder}/cache.log
coredump_dir ${folder}
`;
