import { copyFileSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { openSqlite } from './open.ts';

let empty: Promise<string> | undefined;

/**
 * The folder of an embedded store without a row, but for its epoch. It has no followers, so a revocation waits for
 * nobody. No room is kept on the disk.
 */
async function emptyStore(): Promise<string> {
  const folder = await temporaryFolder();
  const stores = await openSqlite({ folder, clock: systemClock, random: systemRandom });
  await stores.followers.settle(await stores.revocations.epoch(true));
  await stores[Symbol.asyncDispose]();
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.reserve')) rmSync(join(folder, name));
  }
  return folder;
}

/**
 * A folder for an embedded store in one of its own, removed after the tests of the file. The schema is made once for all of
 * them: to make it takes longer than most tests.
 */
export async function storeFolder(): Promise<string> {
  const from = await (empty ??= emptyStore());
  const folder = join(await temporaryFolder(), 'data');
  mkdirSync(folder);
  for (const name of readdirSync(from)) {
    copyFileSync(join(from, name), join(folder, name));
    // As long as one with room, and without a block on the disk.
    if (name.endsWith('.db')) {
      for (const [end, megabytes] of [
        ['-wal', 4],
        ['.reserve', 5],
      ] as const) {
        const part = join(folder, `${name}${end}`);
        writeFileSync(part, '', { mode: 0o600 });
        truncateSync(part, megabytes * 1024 * 1024);
      }
    }
  }
  return folder;
}
