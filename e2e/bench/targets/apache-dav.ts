import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Server } from '../cpu.ts';
import { startApache } from './apache.ts';
import { openFolder } from './open-folder.ts';

export interface ApacheDavOptions {
  readonly username: string;
  readonly password: string;
  /** An empty folder for Apache. */
  readonly folder: string;
}

/** `/documents/` by mod_dav behind Basic, with one round of SHA-1 per request; also over HTTP/2. */
export async function startApacheDav(options: ApacheDavOptions): Promise<Server> {
  const { username, password } = options;
  const folder = await openFolder(options.folder, 'apache');
  for (const name of ['locks', 'documents/documents']) {
    await mkdir(join(folder, name), { recursive: true });
    execFileSync('chown', ['www-data', join(folder, name)]);
  }
  const passwords = execFileSync('htpasswd', ['-nbs', username, password]);
  await writeFile(join(folder, 'passwords'), passwords);
  return startApache({
    folder,
    modules: ['dav', 'dav_fs', 'http2'],
    configuration: CONFIGURATION,
  });
}

const CONFIGURATION = `
Protocols h2c http/1.1
DavLockDB locks/db
<Location /documents>
  Dav On
  AuthType Basic
  AuthName documents
  AuthBasicProvider file
  AuthUserFile passwords
  Require valid-user
</Location>`;
