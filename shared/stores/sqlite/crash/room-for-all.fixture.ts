/**
 * Several processes that write to one file on a small disk, while another one takes all room that becomes free. Prints what
 * each write that failed was told.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '#shared/base/clock.ts';
import { SqliteFile } from '../file/file.ts';

const SCHEMA = {
  file: 'some.db',
  synchronous: 'NORMAL',
  reserveFor: 'all',
  migrations: ['CREATE TABLE done (id TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID'],
  expired: {},
} as const;
const ROUNDS = 300;
const BLOCK = Buffer.alloc(65_536);

/** Bytes that were written: none when the disk is full. */
function append(file: number, bytes: number): number {
  try {
    return writeSync(file, BLOCK, 0, bytes);
  } catch {
    return 0;
  }
}

async function fill(folder: string): Promise<never> {
  const file = openSync(join(folder, 'filler'), 'a');
  for (let isFull = false; ;) {
    for (let bytes = BLOCK.length; bytes >= 1;) if (append(file, bytes) < bytes) bytes >>= 2;
    if (!isFull) process.send?.('full');
    isFull = true;
    await turn();
  }
}

async function write(folder: string): Promise<void> {
  await using file = new SqliteFile(join(folder, SCHEMA.file), SCHEMA, systemClock);
  // As the sweep of each minute does, after which nothing may be written for hours.
  await file.checkpoint();
  process.send?.('open');
  await once(process, 'message');
  for (let round = 0; round < ROUNDS; round += 1) {
    const work = [0, 1, 2].map((n) =>
      file.write((sql) =>
        sql.run('INSERT OR REPLACE INTO done VALUES (?, ?)', `${round % 60}-${n}`, round),
      ),
    );
    const read = file.read((sql) => sql.all('SELECT count(*), sum(n) FROM done'));
    for (const { status, reason } of (await Promise.allSettled([...work, read])) as {
      readonly status: string;
      readonly reason?: unknown;
    }[]) {
      if (status === 'rejected') process.stdout.write(`${String(reason)}\n`);
    }
  }
  process.exit();
}

const [folder = '', role] = process.argv.slice(2);
if (role === 'fill') await fill(folder);
else if (role === 'write') await write(folder);
else {
  const start = async (as: string) => {
    const child = fork(import.meta.filename, [folder, as]);
    await once(child, 'message');
    return child;
  };
  const writers = await Promise.all([start('write'), start('write'), start('write')]);
  const filler = await start('fill');
  const ends = writers.map(async (writer) => once(writer, 'exit'));
  for (const writer of writers) writer.send('begin');
  await Promise.all(ends);
  filler.kill();
}
