// Both servers, as `countersign start` and the image run them. What runs as long as they do is plain JavaScript
// without a package: loading TypeScript alone takes 17 MB.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runPair } from './pair.js';

/** @param {string} folder */
function main(folder) {
  const source = new URL(`../../${folder}/main.ts`, import.meta.url);
  return fileURLToPath(existsSync(source) ? source : new URL('main.js', source));
}

const PARTS = [
  { name: 'authorization server', file: main('authz-server') },
  { name: 'resource server', file: main('resource-server') },
];

process.exitCode = await runPair(PARTS, {
  env: { ...process.env, COUNTERSIGN_PAIR: '1' },
  clock: Date,
  signals: process,
  announce: (lines) => void process.stdout.write(lines.map((line) => `${line}\n`).join('')),
  complain: (lines) => void process.stderr.write(`${lines}\n`),
});
