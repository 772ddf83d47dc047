import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** The configuration of `npm test`, which the other test commands modify. */
export const jest = {
  ...manifest.jest,
  rootDir: fileURLToPath(new URL('../../', import.meta.url)),
};
