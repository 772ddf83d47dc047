import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreSettings } from '../settings.ts';
import { backupSqlite } from '../sqlite/backup/backup.ts';
import { whileCopied } from './being-copied.ts';
import { copyContent } from './copy-content.ts';

const ATTEMPTS = 20;

export interface CopyParts {
  /** As `copyRows` and `writeSums`: here or in a thread. */
  copyState(data: string, folder: string): Promise<unknown>;
  writeSums(folder: string): Promise<unknown>;
}

/** Copies the rows of a store, which has its folder `data`, to `state.db` of a folder. Rejects with `StoreUnavailable`. */
export async function copyRows(store: StoreSettings, data: string, folder: string): Promise<void> {
  if (store.kind === 'sqlite') return void backupSqlite(data, folder);
  const { backupPostgres } = await import('./from-postgres.ts');
  await backupPostgres(store, folder);
}

/**
 * Makes a whole backup of the store in `data` in an empty `folder`, while servers run. Resolves to the number of files with
 * content. Content that is lost is left out: `checkBackup` tells of it. Rejects with `StoreUnavailable`, an error of the
 * system, or `ContentChanges`; then remains of it are left.
 */
export async function copyStore(data: string, folder: string, parts: CopyParts): Promise<number> {
  let before: ReadonlySet<string> = new Set();
  const whole = new Set<string>();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { copied, gone } = await whileCopied(join(data, 'content'), async () => {
      await parts.copyState(data, folder);
      return copyContent(data, folder, whole);
    });
    // No name is given twice: what rows still name that was gone before is lost.
    if (gone.every((file) => before.has(file))) {
      await parts.writeSums(folder);
      return copied;
    }
    // A server that saw no mark removed content between the rows and its copy: take the rows anew.
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
