/**
 * `npm run release -- VERSION`: prepares a release without publishing. It sets the version, gives the changelog a
 * section of it, runs the checks and all tests, and writes both tarballs to `dist/release`.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './bundle.ts';
import { released } from './changelog.ts';

const [version = ''] = process.argv.slice(2);
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: ROOT, stdio: 'inherit' });
const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};

if (!/^\d+\.\d+\.\d+$/.test(version)) fail('Name the version, such as: npm run release -- 0.2.0');
if (execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' }) !== '') {
  fail('Commit your changes first: the release is made of what is committed.');
}

const changelog = join(ROOT, 'CHANGELOG.md');
const today = new Date().toISOString().slice(0, 10);
writeFileSync(changelog, released(readFileSync(changelog, 'utf8'), version, today));
run('npm', 'version', '--no-git-tag-version', '--allow-same-version', version);
run('npm', 'run', 'check');
run('npm', 'test');

// `dist` is made anew for the package, which contains it.
const packed = mkdtempSync(join(tmpdir(), 'countersign-release-'));
run('npm', 'pack', '--pack-destination', packed);
run('npm', 'run', 'pack:resource', '--', packed);
const folder = join(ROOT, 'dist/release');
cpSync(packed, folder, { recursive: true });
rmSync(packed, { recursive: true });
for (const name of readdirSync(folder)) {
  const digest = createHash('sha256').update(readFileSync(join(folder, name)));
  console.log(`${digest.digest('hex')}  dist/release/${name}`);
}
console.log(`
Version ${version} is ready, and nothing is published. What is left for you:
  git commit -am "Version ${version}" && git tag v${version}
  npm publish dist/release/NAME.tgz, for each of the two`);
