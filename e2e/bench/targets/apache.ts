import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';

const MODULES = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'authn_file', 'auth_basic'];

export interface ApacheOptions {
  /** Takes its configuration and its logs; made by `openFolder`. */
  readonly folder: string;
  /** Besides those that every server here needs. */
  readonly modules: readonly string[];
  /** Further lines of the configuration; relative paths begin at the folder. */
  readonly configuration: string;
}

/** Debian's Apache in one process, with its documents in `documents` of the folder. */
export async function startApache(options: ApacheOptions): Promise<Server> {
  const { folder } = options;
  const port = await freePort();
  const file = join(folder, 'apache.conf');
  await writeFile(file, configuration(options, port));
  return startServer('/usr/sbin/apache2', ['-X', '-f', file], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'stderr.log'),
  });
}

function configuration({ folder, modules, configuration: more }: ApacheOptions, port: number) {
  const load = (name: string) =>
    `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`;
  return `
ServerRoot ${folder}
DefaultRuntimeDir ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile apache.pid
${[...MODULES, ...modules].map(load).join('\n')}
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
${more}
`;
}
