import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { apacheIn } from './apache.ts';
import { freePort } from './free-port.ts';
import { type RunningProcess, startProcess } from './process.ts';

const run = promisify(execFile);

/** Starts Debian's Apache with mod_dav, which allows every request below `/base/`; the stack ends it. */
export async function startApacheDav(
  stack: AsyncDisposableStack,
  folder: string,
): Promise<{ readonly url: string; readonly process: RunningProcess }> {
  const port = await freePort();
  for (const name of ['locks', 'documents/base']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  // Apache gives up root, if it has it.
  if (process.getuid?.() === 0) await run('chown', ['-R', 'www-data', folder]);
  const configuration = `
Listen 127.0.0.1:${port}
DocumentRoot documents
DirectorySlash Off
DavLockDB locks/db
<Location /base>
  Dav On
</Location>`;
  const command = await apacheIn(folder, ['dir', 'dav', 'dav_fs'], configuration);
  const apache = await startProcess(...command, {
    ready: async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0,
  });
  return { url: `http://127.0.0.1:${port}/base/`, process: stack.use(apache) };
}
