/** Bundles the programs as JavaScript in few files, which start in half the time: for the package, starts and tests. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';

/** The top of the source. */
export const ROOT = fileURLToPath(new URL('../', import.meta.url));

/**
 * Files that run as a process or thread of their own, or that a flag of Node names. Each group is bundled by itself:
 * what groups share is there twice, but a server then loads half as many files, at some milliseconds of CPU time each.
 */
const ENTRIES = [
  ['authz-server/main.ts'],
  ['resource-server/main.ts'],
  ['resource-server/playground.ts'],
  ['shared/cli/main.ts'],
  ['shared/cli/ready/main.ts'],
  [
    'shared/start/main.js',
    'shared/base/lean-http.js',
    'resource-server/resources/query/evaluator-process.ts',
    'resource-server/steps/calls-thread.ts',
    'shared/private-token/voprf-thread.ts',
    'shared/stores/backup/backup-thread.ts',
    'shared/auth/schemes/mutual/kam3-thread.ts',
  ],
];

/** Built by `npm run kerberos`, not bundled; found at its place in the source. */
const KERBEROS = 'shared/auth/schemes/negotiate/module';

/** For CommonJS among the packages. */
const REQUIRE = `import { createRequire as from } from 'node:module'; const require = from(import.meta.url);`;

/** Bundles the packages, too, for a folder somewhere below `node_modules`, and resolves to the files that it read. */
export async function bundleWhole(folder: string): Promise<readonly string[]> {
  const files = bundle(folder, {
    external: ['@node-rs/argon2'],
    banner: { js: REQUIRE },
    sourcemap: 'linked',
    sourcesContent: false,
  });
  // Else Node reads each file twice, to see what it is.
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const link = join(folder, KERBEROS);
  await mkdir(dirname(link), { recursive: true });
  await symlink(relative(dirname(link), join(ROOT, KERBEROS)), link);
  return files;
}

/**
 * Writes each entry to its place below `folder`, and beside them what they share. What is imported only where it is
 * needed is loaded only there. Returns the files that it read, from the top.
 */
export function bundle(folder: string, more: BuildOptions): readonly string[] {
  const read = ENTRIES.flatMap((entryPoints) => {
    const { metafile } = buildSync({
      ...more,
      absWorkingDir: ROOT,
      // An entry, so that wherever it is imported its code is a shared file, as deep as it is itself.
      entryPoints: [...entryPoints, 'shared/base/entry.ts'],
      outdir: folder,
      outbase: '.',
      chunkNames: 'shared/base/[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'esnext',
      metafile: true,
      logLevel: 'warning',
    });
    return Object.keys(metafile.inputs);
  });
  return [...new Set(read)];
}
