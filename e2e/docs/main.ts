/**
 * `npm run docs` writes the pages of `docs/` that are generated from the code. `--check` names outdated
 * pages.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PAGES, stalePages } from './pages.ts';

const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
const stale = stalePages(read);

if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(`These pages are not what the code says: ${stale.join(', ')}. Run: npm run docs`);
    process.exitCode = 1;
  }
} else {
  for (const path of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, PAGES[path]?.() ?? '');
  }
}
