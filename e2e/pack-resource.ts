/**
 * `npm run pack:resource`: writes the tarball of @countersign/resource, of the same sources as the servers, to
 * `dist`, or to the folder that is named.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './bundle.ts';
import { importsOf } from './imports.ts';
import { packFolder, places } from './packed.ts';

/** The entries by the name that imports them. Those of frameworks are types alone. */
const ENTRIES = {
  '.': 'shared/guard/protect',
  './fastify': 'shared/guard/fastify-request',
  './testing': 'shared/guard/testing',
};
const README = 'shared/guard/README.md';

interface Manifest {
  readonly version: string;
  readonly license: string;
}

const { version, license } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Manifest;

const MANIFEST = {
  name: '@countersign/resource',
  version,
  description:
    'Protects an API by the access tokens of a Countersign authorization server, which are refused as soon as they are revoked',
  license,
  type: 'module',
  sideEffects: false,
  engines: { node: '>=22' },
  ...places(),
  exports: Object.fromEntries(
    Object.entries(ENTRIES).map(([name, entry]) => [
      name,
      { types: `./${entry}.d.ts`, default: `./${entry}.js` },
    ]),
  ),
  imports: { '#shared/*.ts': { types: './shared/*.d.ts', default: './shared/*.js' } },
  files: ['shared'],
};

/** How the house compiles, but for Node alone and with declarations. */
const COMPILER = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: ROOT,
    typeRoots: [join(ROOT, 'node_modules/@types')],
  },
  include: [],
  files: Object.values(ENTRIES).map((entry) => join(ROOT, `${entry}.ts`)),
};

/** All files that are loaded from the entries: of types no more than it names. */
function closure(folder: string, suffix: '.js' | '.d.ts'): string[] {
  const found = new Set(Object.values(ENTRIES).map((entry) => entry + suffix));
  // It grows while it is read.
  for (const path of found) {
    const text = readFileSync(join(folder, path), 'utf8');
    for (const target of importsOf({ [path]: text }).get(path) ?? []) {
      found.add(target.replace(/\.[jt]s$/, suffix));
    }
  }
  return [...found];
}

/** Returns the path of the tarball. */
export function packResource(destination: string): string {
  const work = mkdtempSync(join(tmpdir(), 'countersign-resource-'));
  try {
    const compiled = join(work, 'compiled');
    const project = join(work, 'tsconfig.json');
    writeFileSync(project, JSON.stringify(COMPILER));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    execFileSync(tsc, ['--project', project, '--outDir', compiled], { stdio: 'inherit' });

    const made = join(work, 'package');
    for (const path of [...closure(compiled, '.js'), ...closure(compiled, '.d.ts')]) {
      mkdirSync(dirname(join(made, path)), { recursive: true });
      cpSync(join(compiled, path), join(made, path));
    }
    writeFileSync(join(made, 'package.json'), `${JSON.stringify(MANIFEST, null, 2)}\n`);
    copyFileSync(join(ROOT, README), join(made, 'README.md'));
    copyFileSync(join(ROOT, 'LICENSE'), join(made, 'LICENSE'));

    return packFolder(made, destination);
  } finally {
    rmSync(work, { recursive: true });
  }
}

if (import.meta.main) console.log(packResource(process.argv[2] ?? join(ROOT, 'dist')));
