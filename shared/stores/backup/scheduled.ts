import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import { makeFolder } from '#shared/base/make-folder.ts';
import { lockFile } from '../sqlite/file/lock-file.ts';
import { syncPath } from '../sqlite/file/sync-path.ts';
import { copyStore, type CopyParts } from './copy-store.ts';
import { periodBegin } from '../last-backup/last-backup.ts';
import type { ScheduleSettings } from './settings.ts';

/** The folder of an unfinished backup, or of a backup that is being removed. */
const PARTIAL = 'countersign-partial';
const NAME = /^countersign-\d{8}T\d{6}Z$/;

export interface ScheduleParts extends CopyParts {
  readonly data: string;
  readonly settings: ScheduleSettings;
  readonly clock: Pick<Clock, 'now'>;
  /** `checkBackup`, in this thread or another. */
  check(folder: string, before: string | undefined): Promise<readonly string[]>;
}

export interface ScheduledBackup {
  readonly folder: string;
  /** Files with content. */
  readonly files: number;
  /** Backups that were removed. */
  readonly removed: number;
}

/**
 * Makes the backup of the present period. Resolves to undefined if the backup exists, or another process makes it. A
 * backup gets its name after it was read back; then older backups are removed. Rejects with the faults, and leaves
 * nothing. Removes the remains of a dead process.
 */
export async function makeScheduled(parts: ScheduleParts): Promise<ScheduledBackup | undefined> {
  const { data, settings, clock } = parts;
  const folder = folderOf(settings, periodBegin(clock.now(), settings.every));
  if (existsSync(folder)) return undefined;
  makeFolder(settings.folder);
  using alone = holdAlone(join(settings.folder, 'lock.db'));
  if (alone === undefined || existsSync(folder)) return undefined;
  const partial = join(settings.folder, PARTIAL);
  rmSync(partial, { recursive: true, force: true });
  try {
    mkdirSync(partial, { mode: 0o700 });
    const files = await copyStore(data, partial, parts);
    const mistakes = await parts.check(partial, newestIn(settings.folder));
    if (mistakes.length > 0) throw new Error(`the copy is damaged: ${mistakes.join('; ')}`);
    renameSync(partial, folder);
    syncPath(settings.folder);
    return { folder, files, removed: removeOld(settings, basename(folder)) };
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Whether the backup of the period that begins at `begin` exists. */
export const hasScheduled = (settings: ScheduleSettings, begin: number): boolean =>
  existsSync(folderOf(settings, begin));

const folderOf = ({ folder }: ScheduleSettings, begin: number): string =>
  join(folder, `countersign-${new Date(begin).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`);

/** Returns the newest backup of the schedule. */
export function newestIn(folder: string): string | undefined {
  const [name] = existsSync(folder) ? namesIn(folder) : [];
  return name === undefined ? undefined : join(folder, name);
}

/** Returns the names of the backups, the newest first. */
function namesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && NAME.test(entry.name))
    .map(({ name }) => name)
    .toSorted()
    .toReversed();
}

/** Removes old backups up to `made`. Later names stay: a clock was ahead. A backup first loses its name. */
function removeOld({ folder, keep }: ScheduleSettings, made: string): number {
  const old = namesIn(folder)
    .filter((name) => name <= made)
    .slice(keep);
  for (const name of old) {
    renameSync(join(folder, name), join(folder, PARTIAL));
    rmSync(join(folder, PARTIAL), { recursive: true });
  }
  return old.length;
}

/** Undefined: another process makes a backup. The system releases the lock when a process dies. */
function holdAlone(path: string): Disposable | undefined {
  // No other user may read and so lock the file. A link in its place is not followed.
  closeSync(openSync(path, constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW, 0o600));
  chmodSync(path, 0o600);
  return lockFile(path);
}
