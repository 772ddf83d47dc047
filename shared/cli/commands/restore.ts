import { rm } from 'node:fs/promises';
import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { counted } from '#shared/base/counted.ts';
import { loadConfig } from '#shared/config/load.ts';
import { checkBackup } from '#shared/stores/backup/check.ts';
import { copyContent } from '#shared/stores/backup/copy-content.ts';
import { copyRegular, demandFolder } from '#shared/stores/backup/regular-file.ts';
import { hasSqlite } from '#shared/stores/sqlite/backup/has-sqlite.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import {
  beginRestore,
  endRestore,
  holdAlone,
  interruptedIn,
  isMovable,
  isUntouched,
  swapIn,
} from '#shared/stores/sqlite/backup/restore.ts';
import { type Command, Failure, type Shell } from '../arguments/command.ts';
import { makeNamedFolder } from '../arguments/named-folder.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'put a backup into the data folder; all servers must be stopped',
  operands: ['FOLDER'],
  options: {
    unchecked: {
      help: 'also if files are not as they were written, or nothing says how they were (a damaged backup)',
    },
    replace: { help: 'if the data folder has a store, move it aside first; nothing is deleted' },
  },
  details: [
    'FOLDER is a folder that `countersign backup` has written; it stays as it is. Stop all servers first. After an',
    'interruption, run the command again: no server starts on half a restore. A restore that fails before it has moved',
    'anything leaves the former store as it was.',
    'The servers need the master secret that they had at the backup. People, clients and API keys are as they were',
    'then, with the old passwords. Disable or remove again those that you disabled or removed since.',
    'Tokens, grants and sign-ins from before the restore are refused.',
  ],
  run: async ({ operands: [folder = ''], flag }, shell) => {
    const { store, data } = await loadConfig(shell.env);
    if (store.kind === 'redis') {
      throw new Failure(
        `the state is in Redis: stop the servers, restore it with Redis's own tools, and copy content back to ${join(data, 'content')}. Before the servers start, delete {${store.prefix}}:epoch and every key with :artefact: in it, or what was ended or spent since comes back`,
      );
    }
    if (!hasSqlite(folder)) throw new Failure(`${folder} is no backup: it has no state.db`);
    if (resolve(folder) === resolve(data)) throw new Failure(`${folder} is the data folder itself`);
    makeNamedFolder(data);
    using alone = hold(data);
    if (alone === undefined) {
      throw new Failure(
        `another process has the store at ${data} open, or restores it: stop all servers first`,
      );
    }
    const interrupted = interruptedIn(resolve(data));
    const hasStore = hasSqlite(data) || existsSync(join(data, 'content'));
    if (hasStore && interrupted === undefined && !flag('replace')) {
      throw new Failure(
        `there is a store at ${data} already. With --replace it is moved aside, into a folder beside it`,
      );
    }
    const time = new Date(shell.clock.now()).toISOString().replaceAll(/[:.]/g, '-');
    const aside = interrupted ?? join(resolve(data), `replaced-${time}`);
    const staged = join(data, 'restoring');
    if (interrupted === undefined) beginRestore(data, aside);
    const mistakes = checkBackup(folder);
    let content: Awaited<ReturnType<typeof copyContent>>;
    try {
      if (!flag('unchecked')) refuseDamaged(folder, mistakes);
      content = await stage(folder, staged, shell);
    } catch (error) {
      if (isUntouched(aside)) endRestore(data);
      throw error;
    }
    swapIn(data, staged, aside);
    await rm(staged, { recursive: true });
    endRestore(data);
    const { copied: files } = content;
    const missing = content.gone.length;
    const replaced = readdirSync(aside).length > 0 ? aside : undefined;
    if (replaced === undefined) rmdirSync(aside);
    return {
      json: {
        folder,
        data,
        files,
        ...(missing > 0 && { missing }),
        ...(mistakes.length > 0 && { mistakes }),
        ...(replaced !== undefined && { replaced }),
      },
      lines: [
        `Restored the state and ${counted(files, 'content file')} of ${folder} to ${data}.`,
        ...(missing > 0 ? [`Documents lack ${counted(missing, 'content file')}.`] : []),
        ...(mistakes.length > 0 ? ['The backup was damaged:', ...mistakes] : []),
        ...(replaced === undefined ? [] : [`What was there is in ${replaced}.`]),
        'Start the servers with the master secret of the time of the backup.',
      ],
    };
  },
};

/** Throws `Failure` where a file is not as it was written. */
function refuseDamaged(folder: string, mistakes: readonly string[]): void {
  if (mistakes.length === 0) return;
  throw new Failure(
    `${folder} cannot be trusted:`,
    ...mistakes,
    'Take another backup. To restore what is left of this one, add --unchecked',
  );
}

/** As `holdAlone`. Throws `Failure` where nothing can be written. */
function hold(data: string): Disposable | undefined {
  try {
    return holdAlone(data);
  } catch (error) {
    throw new Failure(`cannot restore to ${data}: ${(error as Error).message}`);
  }
}

/** Copies the backup beside the place that it is for, and resolves as `copyContent` does. Throws `Failure` if it is none. */
async function stage(folder: string, staged: string, shell: Shell) {
  await rm(staged, { recursive: true, force: true });
  makeNamedFolder(join(staged, 'content'));
  try {
    if (!isMovable(dirname(staged), staged)) {
      throw new Failure(
        `${join(dirname(staged), 'content')} cannot be moved aside: it may be a mount of its own. Nothing was changed. Restore to a folder without that mount, then copy its content to it`,
      );
    }
    await copyRegular(join(folder, 'state.db'), join(staged, 'state.db'));
    if (await wasUsed(folder, staged, shell)) {
      throw new Failure(
        `${folder} is a store that servers have used, not a backup. Make one of it: COUNTERSIGN_DATA=${folder} countersign backup NEW`,
      );
    }
    if (existsSync(join(folder, 'content'))) demandFolder(join(folder, 'content'));
    return await copyContent(folder, staged, shell);
  } catch (error) {
    await rm(staged, { recursive: true });
    if (error instanceof Failure) throw error;
    throw new Failure(`${folder} cannot be restored: ${(error as Error).message}`);
  }
}

/** A backup carries no epoch: with it, tokens that were revoked since would be good again. */
async function wasUsed(folder: string, staged: string, { clock, random }: Shell) {
  await using stores = await openSqlite({ folder: staged, clock, random });
  const epoch = await stores.revocations.epoch(false);
  return epoch !== undefined || existsSync(join(folder, 'state.db-wal'));
}
