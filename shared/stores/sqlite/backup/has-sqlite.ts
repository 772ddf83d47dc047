import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { restoringOf } from '../file/connection.ts';
import { STATE } from '../schema/state.ts';

/** Whether the folder has an embedded store, or an unfinished restore. */
export function hasSqlite(folder: string): boolean {
  const state = join(folder, STATE.file);
  return existsSync(state) || existsSync(restoringOf(state));
}
