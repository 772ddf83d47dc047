import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** The configuration of `npm test`, of which the other test commands change something. */
export const jest = {
  ...manifest.jest,
  rootDir: fileURLToPath(new URL('../../', import.meta.url)),
};
