/**
 * After `npm ci`: bundles what can be started, packages included, for the launcher (`shared/cli/countersign.js`). It
 * takes the source where a file of this record has changed, or where nothing was bundled.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kept } from './setup/kept.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** npm writes one of them whenever it changes a package. */
const PACKAGES = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];

if (existsSync(join(ROOT, 'node_modules/esbuild'))) {
  const { bundleWhole } = await import('./bundle.ts');
  await kept(join(ROOT, 'node_modules/.cache/start'), async (folder) => {
    const files = [...PACKAGES, 'e2e/bundle.ts', ...(await bundleWhole(folder))];
    return files.map((file) => join(ROOT, file));
  });
} else
  console.log('Nothing is bundled, since npm left esbuild out: what is started is the source.');
