/**
 * `npm run docs` writes the pages of `docs/` that are generated from the code. `--check` names outdated
 * pages. `build` writes the documentation as a static site to a folder, and `serve` shows it on this machine.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PAGES, stalePages } from './pages.ts';
import { siteServer } from './site/serve.ts';
import { site } from './site/site.ts';

const USAGE = `Usage: npm run docs                    write docs/reference/ from the code
       npm run docs -- build [FOLDER]  write the site, by default to dist/site
       npm run docs -- serve [PORT]    show the site at http://127.0.0.1:PORT/, by default 4000`;

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const stale = () =>
  stalePages((path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined));

const [mode, argument = mode === 'serve' ? '4000' : 'dist/site'] = process.argv.slice(2);
if (mode === undefined) {
  for (const path of stale()) write(path, PAGES[path]?.() ?? '');
} else if (mode === '--check') {
  const pages = stale();
  if (pages.length > 0) {
    console.error(`These pages are not what the code says: ${pages.join(', ')}. Run: npm run docs`);
    process.exitCode = 1;
  }
} else if (mode === 'build') {
  const files = site();
  for (const [path, content] of files) write(join(argument, path), content);
  console.log(`${files.size} files are in ${argument}. The first page is index.html.`);
} else if (mode === 'serve' && /^\d{1,5}$/.test(argument)) {
  const server = siteServer(site()).listen(Number(argument), '127.0.0.1');
  server.on('listening', () =>
    console.log(`The documentation is at http://127.0.0.1:${argument}/`),
  );
  server.on('error', ({ message }) => {
    console.error(`${message}. Choose another port: npm run docs -- serve PORT`);
    process.exitCode = 1;
  });
} else {
  console.error(USAGE);
  process.exitCode = 1;
}
