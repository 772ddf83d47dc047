/**
 * After `npm ci`: bundles what can be started, packages included, for the launcher (`shared/cli/countersign.js`). It
 * takes the source where a file of this record has changed, or where this has failed.
 */
import { join } from 'node:path';
import { bundleWhole, ROOT } from './bundle.ts';
import { kept } from './setup/kept.ts';

/** npm writes one of them whenever it changes a package. */
const PACKAGES = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];

await kept(join(ROOT, 'node_modules/.cache/start'), async (folder) => {
  const files = await bundleWhole(folder);
  const own = files.filter((file) => !file.startsWith('node_modules/'));
  return [...PACKAGES, 'e2e/bundle.ts', ...own].map((file) => join(ROOT, file));
});
