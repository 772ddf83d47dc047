import { type Database, goingOn } from '../sql.ts';
import { appendEntries } from './audit.ts';

/** Results without a change, for which no audit entry is written. All others, undefined included, mean a change. */
const UNCHANGED: ReadonlySet<unknown> = new Set([
  false,
  0,
  'absent',
  'again',
  'collides',
  'full',
  'gone',
  'last',
  'late',
  'refused',
  'taken',
]);

const isUnchanged = (answer: unknown): boolean => UNCHANGED.has(answer);

/** Wraps a database. The first write with a change also appends `texts` to the audit log in its transaction. */
export function carrying(database: Database, texts: readonly string[]): Database {
  let carried = false;
  return {
    read: (work) => database.read(work),
    snapshot: (work) => database.snapshot(work),
    recalling: (isShort) => database.recalling(isShort),
    write(work, options) {
      let carries = false;
      return database.write(async (sql) => {
        // The database may run the work again if its first run had no effect.
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
