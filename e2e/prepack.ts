/**
 * Before `npm pack`: writes to `dist` what can be started, as JavaScript, since Node strips no types under
 * node_modules. The packages stay outside, to be installed beside it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle, ROOT } from './bundle.ts';

const dist = join(ROOT, 'dist');
await rm(dist, { recursive: true, force: true });
bundle(dist, { packages: 'external' });
