import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startProcess } from '../../parts/process.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';

const MODULES = 'mpm_event authn_core authz_core authz_user headers auth_openidc'.split(' ');

/** Debian's Apache with mod_auth_openidc, a site for each of these ports with this configuration. */
export async function startApache(
  sites: Readonly<Record<number, string>>,
): Promise<AsyncDisposable> {
  const folder = await temporaryFolder();
  const documents = join(folder.path, 'documents');
  // It runs as somebody else.
  await chmod(folder.path, 0o755);
  for (const path of ['app', 'api']) {
    await mkdir(join(documents, path), { recursive: true });
    await writeFile(join(documents, path, 'index.html'), `inside ${path}`);
  }
  const load = (name: string) =>
    `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`;
  const file = join(folder.path, 'apache.conf');
  const hosts = Object.entries(sites).map(
    ([port, site]) => `Listen 127.0.0.1:${port}
<VirtualHost 127.0.0.1:${port}>
ServerName http://127.0.0.1:${port}
DocumentRoot ${documents}
${site}
</VirtualHost>`,
  );
  await writeFile(
    file,
    `ServerRoot ${folder.path}
DefaultRuntimeDir ${folder.path}
ServerName localhost
PidFile apache.pid
${MODULES.map(load).join('\n')}
User www-data
Group www-data
ErrorLog error.log
${hosts.join('\n')}
`,
  );
  const apache = await startProcess('apache2', ['-X', '-f', file], {
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    ready: async () => (await fetch(`http://127.0.0.1:${Object.keys(sites)[0]}/`)).status > 0,
  });
  return {
    async [Symbol.asyncDispose]() {
      await apache.kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}
