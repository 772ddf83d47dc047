import { readdirSync } from 'node:fs';
import { createRecorder, type Recorder } from '#shared/audit/recorder.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Config } from '#shared/config/schema.ts';
import { silentLog } from '#shared/base/log.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { hasSqlite } from '#shared/stores/sqlite/backup/restore.ts';
import { Failure, type Shell } from '../arguments/command.ts';

/** The parts of a shell that open the stores. */
type StoreShell = Pick<Shell, 'env' | 'clock' | 'random' | 'creates'> &
  Partial<Pick<Shell, 'note'>> & {
    /** Called with the warnings that servers give when they open the stores. */
    readonly warned?: (reason: string) => void;
  };

interface Opened extends AsyncDisposable {
  readonly stores: Stores;
  /** Records what the operator does here. */
  readonly recorder: Recorder;
  readonly config: Config;
}

/**
 * Opens the configuration and the stores that the servers use. Rejects with `Failure` where the store is missing,
 * unless the command makes it: in a wrong folder or schema a command would work on a new one that no server knows.
 * `loaded`: the configuration, where the command has checked its input against it.
 */
export async function openShellStores(shell: StoreShell, loaded?: Config): Promise<Opened> {
  const config = loaded ?? (await loadConfig(shell.env));
  if (!shell.creates) demandStore(config);
  const stores = await openStores(config, {
    clock: shell.clock,
    random: shell.random,
    creates: shell.creates ?? false,
    log: {
      ...silentLog,
      error: (event, { reason = '' } = {}) => shell.note?.(`${event}: ${reason}`),
      warn: (_, { reason = '' } = {}) => shell.warned?.(reason),
    },
  });
  const by = { who: 'operator', how: 'command line' } as const;
  const recorder = createRecorder({ stores, clock: shell.clock, log: silentLog, config }, by);
  return { stores, recorder, config, [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose]() };
}

/** Throws `Failure` where the embedded store is missing. */
export function demandStore({ store, data }: Config): void {
  if (store.kind !== 'sqlite' || hasSqlite(data)) return;
  if (isForbidden(data)) {
    throw new Failure(
      `cannot read ${data}: EACCES; run the command as the user who runs the servers`,
    );
  }
  throw new Failure(
    `there is no store at ${data}: start the pair, or name its folder in COUNTERSIGN_DATA. A new one is made only with --create`,
  );
}

/** True if the system does not let this user look into a folder. */
function isForbidden(folder: string): boolean {
  try {
    readdirSync(folder);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** Runs `work` on them, and closes the stores. */
export async function withStores<T>(
  shell: StoreShell,
  work: (stores: Stores, config: Config, recorder: Recorder) => Promise<T>,
  loaded?: Config,
): Promise<T> {
  await using opened = await openShellStores(shell, loaded);
  return await work(opened.stores, opened.config, opened.recorder);
}
