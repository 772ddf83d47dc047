import { PASSING_KINDS } from '../../oauth/artefacts.ts';
import type { SqliteFile } from '../file/file.ts';

const COLUMNS =
  'kind, id, payload, grant_id, uid, user_code, account_id, consumed, attempt, expires';
const OF_PASSING = `kind IN (SELECT value FROM json_each(?))`;
const BATCH = 500;

/**
 * Moves artefacts of `PASSING_KINDS` that an older version has written to `state.db` to the file where they are
 * looked for now. Each is taken by one process only, so that nothing comes back that was used or removed meanwhile;
 * a process that is killed in between loses a batch at most, and those requests are begun anew.
 */
export async function movePassingArtefacts(state: SqliteFile, passing: SqliteFile): Promise<void> {
  const kinds = JSON.stringify([...PASSING_KINDS]);
  const some = () =>
    state.read((c) => c.all(`SELECT 1 FROM artefact WHERE ${OF_PASSING} LIMIT 1`, kinds).length);
  while ((await some()) > 0) {
    const rows = await state.write(
      (connection) =>
        connection.all(
          `DELETE FROM artefact WHERE rowid IN
             (SELECT rowid FROM artefact WHERE ${OF_PASSING} LIMIT ${BATCH})
           RETURNING ${COLUMNS}`,
          kinds,
        ),
      { makesRoom: true },
    );
    await passing.write((connection) => {
      for (const row of rows) {
        connection.run(
          `INSERT OR IGNORE INTO artefact (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...row,
        );
      }
    });
  }
}
