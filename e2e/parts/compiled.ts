import { fileURLToPath } from 'node:url';

/**
 * Imported first: where Node keeps what it has compiled, as `countersign start` has it. Half of what a start of a server
 * costs is compiling, and a server that removes types itself holds 20 MB more.
 */
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('../../node_modules/.cache/compiled', import.meta.url),
);
