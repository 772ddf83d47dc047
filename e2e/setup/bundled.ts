import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundle, ROOT } from '../bundle.ts';
import { kept } from './kept.ts';

const FOLDER = join(ROOT, 'node_modules/.cache/bundle');

/** The files that it depends on beside the bundled ones. */
const HOW = ['e2e/bundle.ts', 'e2e/setup/bundled.ts', 'package-lock.json'];

/** Built by `npm run kerberos`, not bundled; found at its place in the source. */
const KERBEROS = 'shared/auth/schemes/negotiate/module';

/** For CommonJS among the packages. */
const REQUIRE = `import { createRequire as from } from 'node:module'; const require = from(import.meta.url);`;

/** Resolves to the folder with all that can be started, packages included. */
export async function bundled(): Promise<string> {
  await kept(FOLDER, async (folder) => {
    const files = bundle(folder, {
      external: ['@node-rs/argon2'],
      banner: { js: REQUIRE },
      sourcemap: 'linked',
      sourcesContent: false,
    });
    // Else Node reads each file twice, to see what it is.
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    await mkdir(dirname(join(folder, KERBEROS)), { recursive: true });
    await symlink(join(ROOT, KERBEROS), join(folder, KERBEROS));
    return [...HOW, ...files].map((file) => join(ROOT, file));
  });
  return FOLDER;
}
