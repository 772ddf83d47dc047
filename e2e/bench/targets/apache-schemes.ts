import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Server } from '../cpu.ts';
import { startApache } from './apache.ts';
import { openFolder } from './open-folder.ts';

export interface ApacheSchemesOptions {
  readonly username: string;
  readonly password: string;
  /** Of bcrypt, for Basic. */
  readonly cost: number;
  /** What `/basic/small` and `/digest/small` answer. */
  readonly body: string;
  /** Takes a folder of its own. */
  readonly folder: string;
}

/** A static file behind mod_auth_basic, and one behind mod_auth_digest (MD5). */
export async function startApacheSchemes(options: ApacheSchemesOptions): Promise<Server> {
  const { username, password, cost, body } = options;
  const folder = await openFolder(options.folder, 'apache');
  for (const name of ['basic', 'digest']) {
    await mkdir(join(folder, 'documents', name), { recursive: true });
    await writeFile(join(folder, 'documents', name, 'small'), body);
  }
  const htpasswd = ['-nbB', '-C', `${cost}`, username, password];
  await writeFile(join(folder, 'passwords'), execFileSync('htpasswd', htpasswd));
  const ha1 = createHash('md5').update(`${username}:digest:${password}`).digest('hex');
  await writeFile(join(folder, 'digests'), `${username}:digest:${ha1}\n`);
  return startApache({ folder, modules: ['auth_digest'], configuration: CONFIGURATION });
}

const CONFIGURATION = `
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
</Location>`;
