/**
 * `npm run release -- VERSION`: prepares a release without publishing, in `dist/release`: both tarballs, a package of
 * Debian, the image, a list of all packages (SBOM), checksums, and the notes. It sets the version, gives the changelog a
 * section of it, and runs the checks and all tests. `--dry-run` works on a copy, and leaves out checks, tests, the
 * package of Debian and the image.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './bundle.ts';
import { notesOf, released } from './changelog.ts';
import { packDebian } from './pack-debian.ts';
import { places, PUBLISHED_AT, unknownPlaces } from './packed.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false }, to: { type: 'string' } },
});
const [version = ''] = positionals;
const dryRun = values['dry-run'];
const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });

if (!/^\d+\.\d+\.\d+(?:-[0-9a-z]+(?:\.[0-9a-z]+)*)?$/.test(version)) {
  fail('Name the version, such as: npm run release -- 1.0.0 (or 1.0.0-rc.1)');
}
const unknown = unknownPlaces(places());
const where = `${PUBLISHED_AT} has no https address for ${unknown.join(', ')}`;
if (!dryRun) {
  if (unknown.length > 0) {
    fail(`${where}: write them there. A package that says where it is from needs them.`);
  }
  if (git('status', '--porcelain') !== '') {
    fail('Commit your changes first: the release is made of what is committed.');
  }
} else if (unknown.length > 0) console.log(`Left out: ${where}.`);

const root = dryRun ? copied() : ROOT;
try {
  const changelog = join(root, 'CHANGELOG.md');
  const before = readFileSync(changelog, 'utf8');
  const today = new Date().toISOString().slice(0, 10);
  const text = notesOf(before, version) === undefined ? released(before, version, today) : before;
  writeFileSync(changelog, text);
  run('npm', 'version', '--no-git-tag-version', '--allow-same-version', version);
  if (!dryRun) {
    run('npm', 'run', 'check');
    run('npm', 'test');
  }
  const folder = values.to ?? join(ROOT, 'dist/release');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run(process.execPath, 'e2e/pack-product.ts', folder);
  run(process.execPath, 'e2e/pack-resource.ts', folder);
  const product = join(folder, `countersign-${version}`);
  writeFileSync(`${product}.cdx.json`, listed(`${product}.tgz`));
  writeFileSync(join(folder, 'NOTES.md'), notesOf(text, version) ?? '');
  if (dryRun)
    console.log('Left out: the image and the package of Debian, since this is a dry run.');
  else {
    if (isThere('dpkg-deb')) packDebian(`${product}.tgz`, folder);
    else console.log('Left out: the package of Debian, since dpkg-deb is not there.');
    image(folder);
  }
  const sums = readdirSync(folder).map((name) => {
    const digest = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${digest.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  console.log(`\nVersion ${version} is in ${folder}, and nothing is published:\n${sums.join('')}`);
} finally {
  if (dryRun) rmSync(root, { recursive: true });
}
if (!dryRun) {
  console.log(`What is left for you:
  git commit -am "Version ${version}" && git tag v${version}
  npm publish dist/release/NAME.tgz, for each of the two${version.includes('-') ? ', with --tag next' : ''}`);
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { cwd: root, stdio: 'inherit' });
}

/** Copies all files of the repository, as they are now, beside its packages. */
function copied(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-release-'));
  for (const path of git('ls-files', '-co', '--exclude-standard', '-z')
    .split('\0')
    .filter(Boolean)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/**
 * Returns the list of all packages that an installation of the tarball may have, in the form of CycloneDX. npm takes the
 * name of the folder for that of the product, and its `--omit dev` leaves out packages that are needed.
 */
function listed(tarball: string): string {
  const work = mkdtempSync(join(tmpdir(), 'countersign-sbom-'));
  const folder = join(work, 'countersign');
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--package-lock-only'], { cwd: folder, encoding: 'utf8' });
  try {
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', tarball, '-C', work, 'package/package.json']);
    cpSync(join(work, 'package/package.json'), join(folder, 'package.json'));
    cpSync(join(root, 'package-lock.json'), join(folder, 'package-lock.json'));
    npm('install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline');
    return npm('sbom', '--sbom-format', 'cyclonedx');
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Builds the image by the first program that is there, and writes it as an archive that `docker load` reads. */
function image(folder: string): void {
  const name = `countersign:${version}`;
  const archive = join(folder, `countersign-${version}-image.tar`);
  const label = `org.opencontainers.image.version=${version}`;
  const tools: readonly (readonly [string, readonly string[][]])[] = [
    [
      'buildah',
      [
        // The other format has no HEALTHCHECK.
        ['build', '--format', 'docker', '--label', label, '--tag', name, '.'],
        ['push', name, `docker-archive:${archive}:${name}`],
      ],
    ],
    [
      'docker',
      [
        ['build', '--label', label, '--tag', name, '.'],
        ['save', '--output', archive, name],
      ],
    ],
  ];
  const tool = tools.find(([program]) => isThere(program));
  if (tool === undefined) {
    console.log('Left out: the image, since neither buildah nor docker is there.');
    return;
  }
  for (const args of tool[1]) run(tool[0], ...args);
}

function isThere(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((at) => existsSync(join(at, program)));
}
