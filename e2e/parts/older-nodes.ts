/** @needs older-nodes */
/** Other versions of Node, on which the package for APIs runs. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where e2e/setup keeps them. */
export const NODES = fileURLToPath(new URL('../../node_modules/.cache/nodes', import.meta.url));

const older = (major: number) =>
  join(NODES, `node_modules/node${major}-${process.platform}-${process.arch}/bin/node`);

/** The programs by major version: the oldest that the package is for, the one between, and the one that runs this. */
export const EVERY_NODE: Readonly<Record<string, string>> = {
  22: older(22),
  24: older(24),
  26: process.execPath,
};
