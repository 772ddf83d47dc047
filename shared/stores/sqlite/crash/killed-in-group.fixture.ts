/** A process that prints each acknowledged write, and kills itself within a transaction of several. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#shared/base/clock.ts';
import type { Statements } from '../file/held.ts';
import { SqliteFile } from '../file/file.ts';
import { STATE } from '../schema/state.ts';

const [folder = '', ends = ''] = process.argv.slice(2);
await using file = new SqliteFile(join(folder, STATE.file), STATE, systemClock);

const write = async (id: string) => {
  await file.write((connection: Statements) => {
    connection.run('INSERT INTO key (kid, alg, record) VALUES (?, ?, ?)', id, 'ES256', '{}');
    connection.run('INSERT INTO revocation (kind, id, until) VALUES (?, ?, ?)', 'key', id, 9e15);
    const content = 'INSERT INTO content (tree, file, bytes) VALUES (?, ?, ?)';
    connection.run(content, 'tree', id, Buffer.alloc(16_384));
    if (id === ends) process.kill(process.pid, 'SIGKILL');
  });
  writeSync(1, `${id}\n`);
};

for (const group of ['a', 'b', 'c']) {
  await Promise.all(Array.from({ length: 5 }, (_, n) => write(`${group}${n}`)));
}
