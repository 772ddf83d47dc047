// For the Dockerfile: leaves in package.json and its lock the packages that the image needs. Of the packages for
// development esbuild is enough to bundle, and the image has its own Node.
import { readFileSync, writeFileSync } from 'node:fs';

/** @param {string} file */
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
/**
 * @param {string} file
 * @param {object} content
 */
const write = (file, content) => writeFileSync(file, JSON.stringify(content));

const manifest = read('package.json');
const lock = read('package-lock.json');
const nodes = new Set(
  Object.keys(manifest.optionalDependencies).map((name) => `node_modules/${name}`),
);
for (const one of [manifest, lock.packages['']]) {
  one.devDependencies = { esbuild: one.devDependencies.esbuild };
  delete one.optionalDependencies;
}
for (const [path, { dev }] of Object.entries(lock.packages)) {
  const isBundler = /^node_modules\/@?esbuild\b/.test(path);
  if ((dev && !isBundler) || nodes.has(path)) delete lock.packages[path];
}
write('package.json', manifest);
write('package-lock.json', lock);
