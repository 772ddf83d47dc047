/**
 * `npm run pack:product`: writes the tarball of countersign to `dist`, or to the folder that is named. It holds what can
 * be started as JavaScript, since Node strips no types under node_modules; the packages are installed beside it.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { bundle, ROOT } from './bundle.ts';
import { packedDocument, packFolder, places } from './packed.ts';

/** The files of the repository that the package has, beside the bundle and the documents. */
const FILES = [
  'shared/cli/countersign.js',
  'shared/cli/packaged-node.js',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
];

/** The members that the manifest takes from package.json: no script, and nothing for development. */
const MEMBERS = [
  'name',
  'version',
  'description',
  'license',
  'bin',
  'type',
  'dependencies',
  'optionalDependencies',
  'engines',
] as const;

type Manifest = Readonly<Record<(typeof MEMBERS)[number], unknown>> & { readonly version: string };

/** Returns the path of the tarball. */
export function packProduct(destination: string): string {
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const whole = JSON.parse(text) as Manifest;
  const members = Object.fromEntries(MEMBERS.map((name) => [name, whole[name]]));
  const folder = mkdtempSync(join(tmpdir(), 'countersign-product-'));
  try {
    bundle(join(folder, 'dist'), { packages: 'external' });
    const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)));
    const files = [...FILES, ...documents];
    const packed = new Set(files);
    for (const path of files) {
      const at = join(folder, path);
      mkdirSync(dirname(at), { recursive: true });
      if (path.endsWith('.md')) {
        const document = readFileSync(join(ROOT, path), 'utf8');
        writeFileSync(at, packedDocument([path, document], packed, whole.version));
      } else cpSync(join(ROOT, path), at);
    }
    const manifest = { ...members, ...places() };
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    return packFolder(folder, destination);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) console.log(packProduct(process.argv[2] ?? join(ROOT, 'dist')));
