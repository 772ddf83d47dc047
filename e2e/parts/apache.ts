/** @needs apache2 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes a configuration for Debian's Apache in one process, with these lines and the common lines; returns
 * its command line. Relative paths begin at the folder, which also gets its logs.
 */
export async function apacheIn(
  folder: string,
  modules: readonly string[],
  configuration: string,
): Promise<readonly [program: string, args: readonly string[]]> {
  const file = join(folder, 'apache.conf');
  const load = (name: string) =>
    `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`;
  const all = ['mpm_event', 'authn_core', 'authz_core', ...modules];
  await writeFile(
    file,
    `ServerRoot ${folder}
DefaultRuntimeDir ${folder}
ServerName localhost
PidFile apache.pid
${all.map(load).join('\n')}
User www-data
Group www-data
ErrorLog error.log
${configuration}
`,
  );
  return ['/usr/sbin/apache2', ['-X', '-f', file]];
}
