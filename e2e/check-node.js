// Before checks and tests, and after `npm ci` where `e2e/prepare.ts` failed: says what to install where no Node can run
// them. Where the packaged Node cannot, npm must not put it before the system's own, so that `npm start` reaches the
// launcher. Plain JavaScript for any Node from 16 on.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NEEDS_NODE, packagedNode, whyNot } from '../shared/cli/packaged-node.js';

const packaged = packagedNode();
const why = packaged && whyNot(packaged);
if (why)
  rmSync(fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url)), { force: true });

if (Number.parseInt(process.versions.node, 10) < 26) {
  console.error(why ?? NEEDS_NODE);
  process.exitCode = 1;
}
