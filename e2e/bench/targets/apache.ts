import { join } from 'node:path';
import { apacheIn } from '../../parts/apache.ts';
import { freePort } from '../../parts/free-port.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';

export interface ApacheOptions {
  /** The folder for configuration and logs, made by `openFolder`. */
  readonly folder: string;
  /** Modules beyond those that every server here needs. */
  readonly modules: readonly string[];
  /** Further lines of the configuration. Relative paths begin at the folder. */
  readonly configuration: string;
}

/** Debian's Apache in one process, with its documents in the folder's `documents`. */
export async function startApache(options: ApacheOptions): Promise<Server> {
  const { folder, modules, configuration } = options;
  const port = await freePort();
  const command = await apacheIn(
    folder,
    ['authz_user', 'authn_file', 'auth_basic', ...modules],
    `Listen 127.0.0.1:${port}
DocumentRoot documents
LogFormat "%h %u %t \\"%r\\" %>s %b" common
CustomLog access.log common
ThreadsPerChild 64
MaxRequestWorkers 64
KeepAlive On
MaxKeepAliveRequests 0
${configuration}`,
  );
  return startServer(...command, {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'stderr.log'),
  });
}
