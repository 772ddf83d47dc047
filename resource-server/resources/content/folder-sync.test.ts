import { expect, test } from '@jest/globals';
import { createFolderSync } from './folder-sync.ts';

/** Records each sync, and ends it on demand. */
function underTest() {
  const begun: { readonly folder: string; readonly end: (error?: Error) => void }[] = [];
  const sync = createFolderSync(async (folder) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    begun.push({ folder, end: (error) => (error ? reject(error) : resolve()) });
    await promise;
  });
  return { sync, begun, folders: () => begun.map(({ folder }) => folder) };
}

/** Resolves after all pending microtasks. */
const settled = () => new Promise((resolve) => void setImmediate(resolve));

test("a call during a folder's sync waits for the next sync", async () => {
  const { sync, begun, folders } = underTest();
  const first = sync('a');
  await settled();
  const told: string[] = [];
  const late = [sync('a'), sync('a')].map((one) => one.then(() => told.push('late')));
  begun[0]?.end();
  await first;
  await settled();
  expect(told).toEqual([]);
  expect(folders()).toEqual(['a', 'a']);
  begun[1]?.end();
  await Promise.all(late);
  expect(folders()).toEqual(['a', 'a']);
});

test('syncs of different folders do not wait for one another', async () => {
  const { sync, folders, begun } = underTest();
  const both = [sync('a'), sync('b')];
  await settled();
  expect(folders()).toEqual(['a', 'b']);
  for (const { end } of begun) end();
  await Promise.all(both);
});

test('a failed sync rejects all calls that wait for it, and no later calls', async () => {
  const { sync, begun } = underTest();
  const failed = [sync('a'), sync('a')];
  await settled();
  const later = sync('a');
  begun[0]?.end(new Error('no disk'));
  for (const one of failed) await expect(one).rejects.toThrow('no disk');
  await settled();
  begun[1]?.end();
  await expect(later).resolves.toBeUndefined();
});

test('syncing a missing folder is an error', async () => {
  await expect(createFolderSync()('/nowhere/at/all')).rejects.toMatchObject({ code: 'ENOENT' });
});
