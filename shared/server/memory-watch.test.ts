import { expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { watchMemory } from './memory-watch.ts';

test('a store that has lost its data causes one error in the log', async () => {
  const epochs = [undefined, 'a', 'a', undefined, undefined, 'b', 'b', 'c', 'c'];
  const lines: unknown[] = [];
  const log = { ...silentLog, error: (...line: unknown[]) => void lines.push(line) };
  const status = () => ({
    entries: 0,
    epoch: epochs.shift(),
    cursor: '',
    silence: 0,
    trusted: true,
  });
  const chore = watchMemory({ status }, log);
  while (epochs.length > 0) await chore.run();
  expect(lines).toEqual([
    ['store.memory', { reason: expect.stringContaining('empty'), was: 'a', now: undefined }],
    ['store.memory', { reason: expect.stringContaining('another'), was: 'b', now: 'c' }],
  ]);
});
