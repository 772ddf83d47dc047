import { afterEach } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { cacheStoreContract } from './contract/index.ts';
import { type CacheDisk, openDisk } from './disk.ts';

const disks: CacheDisk[] = [];
afterEach(async () => {
  for (const disk of disks.splice(0)) await disk[Symbol.asyncDispose]();
});

cacheStoreContract({
  name: 'disk',
  async open(maxBytes) {
    const disk = await openDisk({ folder: await temporaryFolder(), spaces: ['a'] });
    disks.push(disk);
    return disk.store('a', maxBytes);
  },
});
