import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { type RunningProcess, startProcess } from './process.ts';

const MODULES = ['mpm_event', 'authn_core', 'authz_core', 'dir', 'dav', 'dav_fs'];
const run = promisify(execFile);

/** Debian's Apache with mod_dav, which lets everybody do everything below `/base/`; the stack ends it. */
export async function startApacheDav(
  stack: AsyncDisposableStack,
  folder: string,
): Promise<{ readonly url: string; readonly process: RunningProcess }> {
  const port = await freePort();
  for (const name of ['locks', 'documents/base']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  // It gives up root, if it has it.
  if (process.getuid?.() === 0) await run('chown', ['-R', 'www-data', folder]);
  const file = join(folder, 'apache.conf');
  await writeFile(file, configuration(folder, port));
  const apache = await startProcess('/usr/sbin/apache2', ['-X', '-f', file], {
    ready: async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0,
  });
  return { url: `http://127.0.0.1:${port}/base/`, process: stack.use(apache) };
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
DocumentRoot ${folder}/documents
DirectorySlash Off
DavLockDB ${folder}/locks/db
<Location /base>
  Dav On
</Location>
`;
}
