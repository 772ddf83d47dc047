import { closeSync, existsSync, linkSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#shared/base/make-folder.ts';
import { Connection } from '../file/connection.ts';
import { orUnavailable } from '../file/write-fault.ts';
import { syncPath } from '../file/sync-path.ts';
import { STATE } from '../schema/state.ts';
import { UNDOING } from '../../sql/tables.ts';

/**
 * Copies `state.db` of `folder` at one moment into `targetFolder` (0700; the file 0600), while servers run. Returns the
 * path of the copy. Throws `StoreUnavailable`, also if the target exists, and then leaves nothing.
 *
 * The copy lacks rows that would undo a revocation after a restore:
 * - the epoch: a restored store gets a new one, and refuses all earlier access tokens;
 * - artefacts (grants, refresh tokens, sessions, codes), some of which ended after the backup. People sign in again;
 * - invalidations: with another epoch caches forget everything;
 * - followers: they follow another epoch.
 * People, clients and keys are restored as they were: an operator must repeat later removals and changes.
 * `transient.db` is not copied, since its rows expire before a restore.
 *
 * `restore.ts` restores the copy. By hand: remove `state.db-wal`, `state.db-shm` and `state.db.mark`, and move the copy
 * to `state.db`.
 */
export function backupSqlite(folder: string, targetFolder: string): string {
  const source = join(folder, STATE.file);
  const target = join(targetFolder, STATE.file);
  const partial = `${target}.partial`;
  return orUnavailable(target, () => {
    makeFolder(targetFolder);
    if (existsSync(target)) throw new Error('there is a backup already');
    using connection = new Connection(source, STATE, { create: false });
    closeSync(openSync(partial, 'wx', 0o600));
    try {
      connection.run('VACUUM INTO ?', partial);
      strip(partial);
      syncPath(partial);
      linkSync(partial, target);
    } finally {
      rmSync(partial);
    }
    syncPath(targetFolder);
    return target;
  });
}

/** Deletes rows and overwrites their octets. A second vacuum would take too long while documents change. */
function strip(path: string): void {
  using copy = new DatabaseSync(path);
  copy.exec(
    `PRAGMA secure_delete = ON;
     BEGIN; DROP TABLE IF EXISTS room; ${UNDOING.map((table) => `DELETE FROM ${table};`).join(' ')} COMMIT`,
  );
}
