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
 * Copies `state.db` of `folder` into `targetFolder` (made when missing, 0700; the file 0600) as it is
 * at one moment, while the servers run, and returns the path of the copy. Throws
 * `StoreUnavailable` when it cannot, and when the target exists; then nothing is left behind.
 *
 * Not in the copy is what would undo a revocation when the copy is restored:
 * - the epoch: who restores gets a new one, and every access token issued before is refused;
 * - the engine's artefacts (grants, refresh tokens, sessions, codes): one that was revoked or used up
 *   since the backup would come to life again. People sign in anew after a restore;
 * - what caches must forget: with another epoch they forget all;
 * - who follows: nobody does that began with another memory.
 * Clients, people, API keys, public keys, passkeys and keys that sign are restored as they were: who or what was removed, disabled
 * or ended since the backup, or was given another password, has to be so again.
 * `transient.db` is not copied: what it knows is past its window before anybody restores it, and the
 * new epoch refuses the tokens it was about. Content that the store does not keep is in files of its own.
 *
 * `restore.ts` puts it back. By hand: remove `state.db-wal`, `state.db-shm` and `state.db.mark`, move the copy to `state.db`.
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

/** Deletes rows and overwrites their octets. Another vacuum would take longer than the copy, while documents change. */
function strip(path: string): void {
  using copy = new DatabaseSync(path);
  copy.exec(
    `PRAGMA secure_delete = ON;
     BEGIN; DROP TABLE IF EXISTS room; ${UNDOING.map((table) => `DELETE FROM ${table};`).join(' ')} COMMIT`,
  );
}
