import { join } from 'node:path';
import { bundleWhole, ROOT } from '../bundle.ts';
import { kept } from './kept.ts';

const FOLDER = join(ROOT, 'node_modules/.cache/bundle');

/** Further files that the bundle depends on. */
const HOW = ['e2e/bundle.ts', 'package-lock.json'];

/** Resolves to the folder with all programs, packages included. */
export async function bundled(): Promise<string> {
  await kept(FOLDER, async (folder) => {
    const files = await bundleWhole(folder);
    return [...HOW, ...files].map((file) => join(ROOT, file));
  });
  return FOLDER;
}
