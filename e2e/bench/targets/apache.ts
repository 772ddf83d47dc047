import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';
import { openFolder } from './open-folder.ts';

const MODULES = [
  'mpm_event',
  'authn_core',
  'authz_core',
  'authz_user',
  'authn_file',
  'auth_basic',
  'auth_digest',
];

export interface ApacheOptions {
  readonly username: string;
  readonly password: string;
  /** Of bcrypt, for Basic. */
  readonly cost: number;
  /** What `/basic/small` and `/digest/small` answer. */
  readonly body: string;
  /** Takes its configuration, its documents and its logs. */
  readonly folder: string;
}

/** Debian's Apache in one process: a static file behind mod_auth_basic, and one behind mod_auth_digest (MD5). */
export async function startApache(options: ApacheOptions): Promise<Server> {
  const { username, password, cost, body } = options;
  const port = await freePort();
  const folder = await openFolder(options.folder, 'apache');
  for (const name of ['basic', 'digest']) {
    await mkdir(join(folder, 'documents', name), { recursive: true });
    await writeFile(join(folder, 'documents', name, 'small'), body);
  }
  const htpasswd = ['-nbB', '-C', `${cost}`, username, password];
  await writeFile(join(folder, 'passwords'), execFileSync('htpasswd', htpasswd));
  const ha1 = createHash('md5').update(`${username}:digest:${password}`).digest('hex');
  await writeFile(join(folder, 'digests'), `${username}:digest:${ha1}\n`);
  const file = join(folder, 'apache.conf');
  await writeFile(file, configuration(folder, port));
  return startServer('/usr/sbin/apache2', ['-X', '-f', file], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'stderr.log'),
  });
}

function configuration(folder: string, port: number): string {
  const load = (name: string) =>
    `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`;
  return `
ServerRoot ${folder}
DefaultRuntimeDir ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile apache.pid
${MODULES.map(load).join('\n')}
User www-data
Group www-data
ErrorLog error.log
LogFormat "%h %u %t \\"%r\\" %>s %b" common
CustomLog access.log common
ThreadsPerChild 64
MaxRequestWorkers 64
KeepAlive On
MaxKeepAliveRequests 0
DocumentRoot ${folder}/documents
<Location /basic>
  AuthType Basic
  AuthName basic
  AuthBasicProvider file
  AuthUserFile passwords
  Require valid-user
</Location>
<Location /digest>
  AuthType Digest
  AuthName digest
  AuthDigestProvider file
  AuthUserFile digests
  Require valid-user
</Location>
`;
}
