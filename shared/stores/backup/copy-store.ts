import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreSettings } from '../settings.ts';
import { backupSqlite } from '../sqlite/backup/backup.ts';
import { whileCopied } from './being-copied.ts';
import { copyContent } from './copy-content.ts';

const ATTEMPTS = 20;

export interface CopyParts {
  /** `copyRows` and `writeSums`, in this thread or another. */
  copyState(data: string, folder: string): Promise<unknown>;
  writeSums(folder: string): Promise<unknown>;
}

/** Copies the rows of a store with the folder `data` to `state.db` in `folder`. Rejects with `StoreUnavailable`. */
export async function copyRows(store: StoreSettings, data: string, folder: string): Promise<void> {
  if (store.kind === 'sqlite') return void backupSqlite(data, folder);
  const { backupPostgres } = await import('./from-postgres.ts');
  await backupPostgres(store, folder);
}

/**
 * Makes a backup of the store in `data` in an empty `folder`, while servers run. Resolves to the number of files with
 * content. Lost content is left out, and `checkBackup` reports it. Rejects with `StoreUnavailable`, an error of the
 * system, or `ContentChanges`, and then leaves a part of the backup.
 */
export async function copyStore(data: string, folder: string, parts: CopyParts): Promise<number> {
  let before: ReadonlySet<string> = new Set();
  const whole = new Set<string>();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { copied, gone } = await whileCopied(join(data, 'content'), async () => {
      await parts.copyState(data, folder);
      return copyContent(data, folder, whole);
    });
    // No name is given twice, so a file that was missing before is lost.
    if (gone.every((file) => before.has(file))) {
      await parts.writeSums(folder);
      return copied;
    }
    // A server that saw no mark has removed content since the rows were copied.
    before = new Set(gone);
    rmSync(join(folder, 'state.db'));
  }
  throw new ContentChanges();
}

export class ContentChanges extends Error {
  constructor() {
    super('documents change faster than they can be copied: try again later');
  }
}
