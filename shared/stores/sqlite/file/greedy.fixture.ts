/** A process that writes to a file without a pause, so that it has the lock nearly all of the time, until it is killed. */
import { systemClock } from '#shared/base/clock.ts';
import { SqliteFile } from './file.ts';

/** Milliseconds that each write takes. */
const LONG = 10;

const [path = '', who = ''] = process.argv.slice(2);
const schema = {
  file: 'some.db',
  synchronous: 'NORMAL',
  reserveFor: 'all',
  migrations: ['CREATE TABLE done (who TEXT)'],
  expired: {},
} as const;
const greedy = new SqliteFile(path, schema, systemClock);
for (;;) {
  await greedy.write((connection) => {
    // As a disk that is slow: the process sleeps.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONG);
    connection.run('INSERT INTO done VALUES (?)', who);
  });
}
