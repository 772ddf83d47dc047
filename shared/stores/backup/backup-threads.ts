import { ALONE } from '#shared/base/line.ts';
import { Threads } from '#shared/base/threads.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { StoreSettings } from '../settings.ts';
import type { ScheduleParts } from './scheduled.ts';

/** Runs the slow steps of a backup on a thread, so that a server with a large store answers meanwhile. */
export function openBackupThreads(
  store: StoreSettings,
): Pick<ScheduleParts, 'copyState' | 'writeSums' | 'check'> & AsyncDisposable {
  const threads = new Threads({
    entry: 'shared/stores/backup/backup-thread',
    title: 'backup',
    threads: 1,
    most: 1,
    tooMany: () => new StoreUnavailable('the server stops, or another backup is under way'),
  });
  const run = (operation: string, ...paths: readonly string[]) =>
    threads.run(ALONE, operation, ...paths.map((path) => Buffer.from(path)));
  return {
    copyState: (data, folder) => run('copyState', JSON.stringify(store), data, folder),
    writeSums: (folder) => run('writeSums', folder),
    check: async (folder, before) => {
      const paths = before === undefined ? [folder] : [folder, before];
      return JSON.parse(String(await run('check', ...paths))) as string[];
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}
