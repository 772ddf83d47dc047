import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { STATE } from '../schema/state.ts';

/** Whether the embedded store is in this folder. */
export const hasSqlite = (folder: string) => existsSync(join(folder, STATE.file));
