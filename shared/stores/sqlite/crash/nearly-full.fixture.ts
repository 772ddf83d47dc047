/**
 * A process in the folder of a small disk: makes a store while so many KiB are free on it, and prints a line of JSON with
 * whether somebody gets in then, and whether a document can be added.
 */
import { appendFileSync, mkdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock as clock } from '#shared/base/clock.ts';
import { systemRandom as random } from '#shared/base/random.ts';
import { edit, putWith } from '../../contract/samples.ts';
import { openSqlite } from '../open.ts';

const [place = ''] = process.argv.slice(2);
const filler = join(place, 'filler');
const fill = (bytes: number) => {
  try {
    for (;;) appendFileSync(filler, Buffer.alloc(bytes, 1));
  } catch {
    if (bytes > 1) fill(bytes >> 4);
  }
};
const isDone = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

for (const kibibytes of [800, 2000, 4000, 6000, 9000, 14_000]) {
  const folder = join(place, 'store');
  mkdirSync(folder);
  fill(65_536);
  truncateSync(filler, statSync(filler).size - kibibytes * 1024);
  const stores = await openSqlite({ folder, clock, random }).catch(String);
  const done =
    typeof stores === 'string'
      ? stores
      : [
          await isDone(stores.replay.unique('proof', 'x', 60)),
          await isDone(edit(stores, 'tree', [putWith('x', Buffer.alloc(100, 1))])),
        ];
  process.stdout.write(`${JSON.stringify([kibibytes, done])}\n`);
  if (typeof stores !== 'string') await stores[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
  rmSync(filler);
}

const path = join(place, 'state.db');
const { revocations } = await openSqlite({ folder: place, clock, random });
using other = new DatabaseSync(path);
const pages = () => Number(other.prepare('PRAGMA page_count').get()?.['page_count']);
const before = pages();
let inWal = 0;
for (let n = 0; n < 200; n += 1) {
  await revocations.revoke('token', `${n}`, clock.now() + 60_000);
  if (statSync(path).size < pages() * 4096) inWal += 1;
}
process.stdout.write(`${JSON.stringify(['grown', pages() > before, inWal])}\n`);
process.exit();
