import { isUnchanged } from '../../audit/unchanged.ts';
import type { Database } from '../file/file.ts';
import { appendEntries } from './audit.ts';

/**
 * The same file. The first write through it that changes something appends `texts` to the audit log in the same
 * savepoint, so that both are committed or neither.
 */
export function carrying(file: Database, texts: readonly string[]): Database {
  let carried = false;
  return {
    read: (work) => file.read(work),
    write: (work, options) =>
      file.write((connection) => {
        const answer = work(connection);
        if (carried || isUnchanged(answer)) return answer;
        appendEntries(connection, texts);
        carried = true;
        return answer;
      }, options),
  };
}
