/**
 * Before `npm pack`: prepares `dist`, where `tsc -p dist` then writes the JavaScript of what can be
 * started and of all that it imports. The package needs it because Node strips no types under
 * node_modules; nothing else does.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** What runs as a process or thread of its own. */
const ENTRIES = [
  'shared/start/main.ts',
  'shared/cli/main.ts',
  'authz-server/main.ts',
  'resource-server/main.ts',
  'resource-server/resources/query/evaluator-process.ts',
  'shared/private-token/voprf-thread.ts',
];

const FILES = {
  'tsconfig.json': {
    extends: '../tsconfig.json',
    compilerOptions: { noEmit: false, rootDir: '..', outDir: '.' },
    files: ENTRIES.map((entry) => `../${entry}`),
    include: [],
  },
  // Specifiers of the form #shared/x.ts stay as they are; here they name JavaScript.
  'package.json': { type: 'module', imports: { '#shared/*.ts': './shared/*.js' } },
};

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
await rm(dist, { recursive: true, force: true });
await mkdir(dist);
for (const [name, content] of Object.entries(FILES)) {
  await writeFile(`${dist}${name}`, `${JSON.stringify(content, null, 2)}\n`);
}
