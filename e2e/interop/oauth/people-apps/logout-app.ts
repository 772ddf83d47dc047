import { copyFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atPair, examples } from '../../../pair/examples.ts';
import type { Pair } from '../../../pair/pair.ts';
import { NODE, startProcess } from '../../../parts/process.ts';
import { temporaryFolder } from '../../../parts/temporary-folder.ts';
import type { Registered } from './app.ts';

const ROOT = new URL('../../../../', import.meta.url).pathname;

/** The path at which the application accepts logout tokens. */
export const LOGOUT_PATH = '/logout';

/** Starts an application on openid-client with the handler of docs/how-to/applications.md, as a process. */
export async function startLogoutApp(
  pair: Pair,
  { id, secret, origin }: Omit<Registered, 'issuer'>,
): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder()).path;
  const [handler = ''] = await examples('docs/how-to/applications.md', 'js logout');
  await writeFile(join(folder, 'logout.mjs'), atPair(pair, handler));
  const app = 'e2e/interop/oauth/people-apps/logout-app.mjs';
  await copyFile(join(ROOT, app), join(folder, 'app.mjs'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  parts.use(
    await startProcess(process.execPath, [join(folder, 'app.mjs')], {
      env: { ...NODE, ISSUER: pair.issuer, CLIENT: id, SECRET: secret, ORIGIN: origin },
      ready: (output) => output.includes('listening'),
    }),
  );
  return parts.move();
}
