import { type Database, goingOn } from '../sql.ts';
import { appendEntries } from './audit.ts';

/**
 * The answers by which a store says that it changed nothing, so that no entry of the audit log is written. All other
 * answers, and none, say that it did.
 */
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
