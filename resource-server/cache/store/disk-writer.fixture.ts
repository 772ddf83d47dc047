/**
 * A process that stores answers on disk and removes what the feed names, until it is killed. It prints a line for each
 * stored answer.
 */
import { answer, contentOfAnswer, removedBy } from './contract/schedule.ts';
import { openDisk } from './disk.ts';

const [folder = '', first = ''] = process.argv.slice(2);
const disk = await openDisk({ folder, spaces: ['a'] });
const store = disk.store('a', 2 ** 40);
const say = (...what: readonly unknown[]) => process.stdout.write(`${JSON.stringify(what)}\n`);

async function keep(n: number): Promise<void> {
  const stored = answer(n);
  const content = contentOfAnswer(n);
  const writing = store.begin(stored);
  for (let at = 0; at < content.length; at += 65_536) {
    await writing?.append(content.subarray(at, at + 65_536));
  }
  if (await writing?.commit([])) say('kept', n);
  writing?.close();
}

// The previous process may not have removed the last entries of the feed.
for (let n = Number(disk.position ?? -1) + 1; ; n += 1) {
  if (n >= Number(first)) await keep(n);
  const group = new Set(removedBy(n).map((gone) => answer(gone).id));
  // Not awaited, since the disk must delay the position itself.
  if (group.size > 1) void store.removeWhere(({ id }) => group.has(id), false);
  else for (const gone of removedBy(n)) await store.removeTarget(answer(gone).target, false);
  disk.setPosition(`${n}`);
}
