import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyContent } from '#shared/stores/backup/copy-content.ts';
import { copyRegular, demandFolder } from '#shared/stores/backup/regular-file.ts';
import { rowsToFiles } from '#shared/stores/backup/rows-to-files.ts';
import type { StoreSettings } from '#shared/stores/settings.ts';
import { isMovable, noteRestored } from '#shared/stores/sqlite/backup/restore.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { makeNamedFolder } from '../arguments/named-folder.ts';

/** The operands and options of a restore. */
export interface Wanted {
  readonly folder: string;
  readonly data: string;
  readonly unchecked: boolean;
  readonly replace: boolean;
}

interface Staged {
  /** Files with content that documents name. */
  readonly files: number;
  /** Files that the backup lacks. */
  readonly missing: number;
}

/** The result of a restore. */
export interface Restored extends Staged {
  readonly mistakes: readonly string[];
  /** The folder or the schema of the former store. */
  readonly replaced?: string;
  /** The same in words. */
  readonly where?: string;
  readonly to: string;
}

/** The time as a part of a name. */
export const timeIn = ({ clock }: Shell): string =>
  new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-');

/** Throws `Failure` where a file is not as it was written. */
export function refuseDamaged(folder: string, mistakes: readonly string[]): void {
  if (mistakes.length === 0) return;
  throw new Failure(
    `${folder} cannot be trusted:`,
    ...mistakes,
    'Take another backup. To restore what is left of this one, add --unchecked',
  );
}

/**
 * Copies the backup to a folder beside its target, migrates it, and converts its content to the form of the target
 * store. Rejects with `Failure` if it is no backup, or cannot be moved to the target.
 */
export async function stage(
  folder: string,
  staged: string,
  shell: Shell,
  store: StoreSettings['kind'],
): Promise<Staged> {
  await rm(staged, { recursive: true, force: true });
  makeNamedFolder(join(staged, 'content'));
  try {
    if (store === 'sqlite') demandMovable(staged);
    await copyRegular(join(folder, 'state.db'), join(staged, 'state.db'));
    if (await wasUsed(folder, staged, shell)) {
      throw new Failure(
        `${folder} is a store that servers have used, not a backup. Make one of it: COUNTERSIGN_DATA=${folder} countersign backup NEW`,
      );
    }
    if (existsSync(join(folder, 'content'))) demandFolder(join(folder, 'content'));
    const { copied, gone } = await copyContent(folder, staged);
    if (store === 'postgres') return { files: copied, missing: gone.length };
    noteRestored(staged, shell.clock.now());
    return { files: copied + (await rowsToFiles(staged)), missing: gone.length };
  } catch (error) {
    await rm(staged, { recursive: true });
    if (error instanceof Failure) throw error;
    throw new Failure(`${folder} cannot be restored: ${(error as Error).message}`);
  }
}

function demandMovable(staged: string): void {
  if (isMovable(dirname(staged), staged)) return;
  throw new Failure(
    `${join(dirname(staged), 'content')} cannot be moved aside: it may be a mount of its own. Nothing was changed. Restore to a folder without that mount, then copy its content to it`,
  );
}

/** A backup must not have an epoch: with it, tokens that were revoked since the backup would be valid again. */
async function wasUsed(folder: string, staged: string, { clock, random }: Shell) {
  await using stores = await openSqlite({ folder: staged, clock, random });
  const epoch = await stores.revocations.epoch(false);
  return epoch !== undefined || existsSync(join(folder, 'state.db-wal'));
}
