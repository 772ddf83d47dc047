import { isUnchanged } from '../../audit/unchanged.ts';
import { type Database, goingOn } from '../sql.ts';
import { appendEntries } from './audit.ts';

/**
 * The same database. The first write through it that changes something appends `texts` to the audit log in the same
 * transaction, so that both are committed or neither.
 */
export function carrying(database: Database, texts: readonly string[]): Database {
  let carried = false;
  return {
    read: (work) => database.read(work),
    snapshot: (work) => database.snapshot(work),
    recalling: (isShort) => database.recalling(isShort),
    write(work, options) {
      let carries = false;
      return database.write(async (sql) => {
        // The database runs the work again if nothing of it was done.
        if (carries) carries = carried = false;
        const answer = await work(carried ? sql : goingOn(sql));
        if (carried || isUnchanged(answer)) return answer;
        await appendEntries(sql, texts);
        carries = carried = true;
        return answer;
      }, options);
    },
  };
}
