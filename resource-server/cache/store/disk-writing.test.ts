import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { DiskWriting } from './disk-writing.ts';
import { Room } from './room.ts';

test('a file that is created after its answer was given up is closed and discarded', async () => {
  const file = await open(join(await temporaryFolder(), 'file'), 'w+');
  const made = Promise.withResolvers<typeof file>();
  let discarded = 0;
  const writing = DiskWriting.begin({
    expected: undefined,
    most: 100,
    room: new Room(100, () => false),
    create: () => made.promise,
    end: () => undefined,
    discard: () => (discarded += 1),
  });
  const appending = writing?.append(Buffer.from('late'));
  writing?.close();
  const before = discarded;
  made.resolve(file);
  expect(await appending).toBe(false);
  expect(discarded).toBeGreaterThan(before);
  expect(file.fd).toBe(-1);
});
