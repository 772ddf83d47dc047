/** A process that moves and copies a tree to and fro until it is killed, and prints a line for each change. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { copy, edit, move } from '../../contract/samples.ts';
import type { Edit } from '../../trees/trees.ts';
import { openSqlite } from '../open.ts';

const [folder = '', tree = ''] = process.argv.slice(2);
const stores = await openSqlite({ folder, clock: new ManualClock(), random: systemRandom });

const CHANGES: readonly (readonly Edit[])[] = [
  [move('a', 'b')],
  [copy('b', 'c')],
  [{ kind: 'remove', path: 'c' }, move('b', 'c')],
  [move('c', 'a')],
];

for (;;) {
  for (const edits of CHANGES) {
    process.stdout.write(`${(await edit(stores, tree, edits)).kind}\n`);
    // Else nearly every kill would be amid the copy, which takes longest.
    await sleep(10);
  }
}
