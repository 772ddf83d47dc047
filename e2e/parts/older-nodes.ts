/** @needs older-nodes */
/** Other versions of Node that the package for APIs supports. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder in which e2e/setup installs them. */
export const NODES = fileURLToPath(new URL('../../node_modules/.cache/nodes', import.meta.url));

const older = (major: number) =>
  join(NODES, `node_modules/node${major}-${process.platform}-${process.arch}/bin/node`);

/** The programs by major version: the oldest supported, the one between, and the Node of this process. */
export const EVERY_NODE: Readonly<Record<string, string>> = {
  22: older(22),
  24: older(24),
  26: process.execPath,
};
