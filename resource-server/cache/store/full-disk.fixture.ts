/** A process that fills the small disk of its folder, and prints a line of JSON for each attempt. */
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contentOf, idsOf, keep, someAnswer } from './contract/under-test.ts';
import { openDisk } from './disk.ts';

const [folder = ''] = process.argv.slice(2);
const filler = join(folder, 'filler');
const say = (...what: readonly unknown[]) => process.stdout.write(`${JSON.stringify(what)}\n`);
const fill = (bytes: number) => {
  try {
    for (;;) appendFileSync(filler, Buffer.alloc(bytes, 1));
  } catch {
    if (bytes > 1) fill(bytes >> 4);
  }
};
const page = (target: string) => someAnswer({ id: target, target });
const LONG = 'a'.repeat(100_000);

{
  await using disk = await openDisk({ folder, spaces: ['a'] });
  const store = disk.store('a', 2 ** 30);
  for (const name of ['kept', 'gone', 'stale']) await keep(store, page(`/${name}`), LONG);
  disk.setPosition('1');
  fill(65_536);
  // These answers also use up the space that SQLite has reserved.
  for (let n = 0; n < 300; n += 1) await keep(store, page(`/empty ${n}`), '');
  const writing = store.begin(page('/long'));
  say('append', await writing?.append(Buffer.from(LONG)));
  say('commit', (await writing?.commit([])) !== undefined);
  writing?.close();
  say('empty', (await keep(store, page('/empty'), '')) !== undefined);
  say('content', (await contentOf(store, page('/kept'))) === LONG);
  say('removed', await store.removeTarget('/gone', false));
  say('outdated', await store.removeTarget('/stale', true));
  disk.setPosition('2');
  say('found', [...(await idsOf(store, page('/gone'))), ...(await idsOf(store, page('/long')))]);
  say('fresh', (await store.find(page('/stale'))).filter(({ outdated }) => !outdated).length);
}
fill(65_536);
try {
  await using disk = await openDisk({ folder: join(folder, 'other'), spaces: ['a'] });
  say('opened', disk.position);
} catch (error) {
  say('not opened', error instanceof Error);
}
rmSync(filler);
await using disk = await openDisk({ folder, spaces: ['a'] });
const store = disk.store('a', 2 ** 30);
// The position never passes an invalidation whose removals are not done.
say('behind', disk.position === '1' || (await idsOf(store, page('/gone'))).length === 0);
say('gone', (await contentOf(store, page('/gone'))) === undefined);
say('kept', (await contentOf(store, page('/kept'))) === LONG);
say('room', (await keep(store, page('/room'), LONG)) !== undefined);
disk.setPosition('3');
say('position', disk.position);
