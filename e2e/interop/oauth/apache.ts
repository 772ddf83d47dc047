import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apacheIn } from '../../parts/apache.ts';
import { startProcess } from '../../parts/process.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';

/**
 * Starts Debian's Apache with one of its OAuth modules: a site at each of these ports, with this
 * configuration.
 */
export async function startApache(
  sites: Readonly<Record<number, string>>,
  module: 'auth_openidc' | 'oauth2' = 'auth_openidc',
): Promise<AsyncDisposable> {
  const folder = await temporaryFolder();
  const documents = join(folder.path, 'documents');
  // Apache runs as another user.
  await chmod(folder.path, 0o755);
  for (const path of ['app', 'api']) {
    await mkdir(join(documents, path), { recursive: true });
    await writeFile(join(documents, path, 'index.html'), `inside ${path}`);
  }
  const hosts = Object.entries(sites).map(
    ([port, site]) => `Listen 127.0.0.1:${port}
<VirtualHost 127.0.0.1:${port}>
ServerName http://127.0.0.1:${port}
DocumentRoot ${documents}
${site}
</VirtualHost>`,
  );
  const modules = ['authz_user', 'headers', module];
  const command = await apacheIn(folder.path, modules, hosts.join('\n'));
  const apache = await startProcess(...command, {
    ready: async () => (await fetch(`http://127.0.0.1:${Object.keys(sites)[0]}/`)).status > 0,
  });
  return {
    async [Symbol.asyncDispose]() {
      await apache.kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}
