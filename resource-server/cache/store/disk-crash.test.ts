/** @slow */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { answer, contentOfAnswer, removedBy } from './contract/schedule.ts';
import { openDisk } from './disk.ts';

/** Returns the entries that disk-writer.fixture.ts had stored when it was killed after printing `killAfter` lines. */
async function kept(folder: string, first: number, killAfter: number): Promise<number[]> {
  const script = join(import.meta.dirname, 'disk-writer.fixture.ts');
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, folder, `${first}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exit = once(child, 'exit');
  const numbers: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    numbers.push((JSON.parse(line) as ['kept', number])[1]);
    if (numbers.length === killAfter) child.kill('SIGKILL');
  }
  await exit;
  return numbers;
}

const removedUpTo = (position: number): ReadonlySet<number> =>
  new Set(Array.from({ length: position + 1 }, (_, n) => removedBy(n)).flat());

test('after a SIGKILL stored answers are whole, answers that the feed removed are not there, and no other file is left', async () => {
  const folder = await temporaryFolder();
  const all: number[] = [];
  let next = 0;
  for (let round = 0; round < 3; round += 1) {
    const numbers = await kept(folder, next, 60 + Math.floor(Math.random() * 100));
    expect(numbers.length).toBeGreaterThanOrEqual(60);
    all.push(...numbers);
    next = (all.at(-1) ?? 0) + 100;
    await using disk = await openDisk({ folder, spaces: ['a'] });
    const store = disk.store('a', 2 ** 40);
    const position = Number(disk.position);
    expect(position).toBeGreaterThanOrEqual((all.at(-1) ?? 0) - 101);
    const surely = removedUpTo(position);
    const removed = removedUpTo((all.at(-1) ?? 0) + 1);
    let found = 0;
    for (const n of all) {
      const [stored] = await store.find(answer(n));
      if (surely.has(n)) expect([n, stored]).toEqual([n, undefined]);
      if (!removed.has(n)) expect(stored).toMatchObject({ id: `id-${n}` });
      if (stored === undefined) continue;
      found += 1;
      await using closing = new AsyncDisposableStack();
      const content = await store.content(stored);
      closing.defer(() => content?.close());
      const whole = await content?.read(0, 300_000);
      expect([n, whole?.equals(contentOfAnswer(n))]).toEqual([n, true]);
    }
    // Right after the removal of a group of 90 answers, only these few are left.
    expect(found).toBeGreaterThan(5);
    // The last answer may be stored without being printed.
    expect(store.stats().entries - found).toBeLessThanOrEqual(round + 1);
    expect(readdirSync(join(folder, '0', 'content')).length).toBeLessThanOrEqual(
      store.stats().entries,
    );
  }
});
