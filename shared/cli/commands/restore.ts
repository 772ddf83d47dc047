import { rm } from 'node:fs/promises';
import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { counted } from '#shared/base/counted.ts';
import { loadConfig } from '#shared/config/load.ts';
import { checkBackup } from '#shared/stores/backup/check.ts';
import { hasSqlite } from '#shared/stores/sqlite/backup/restore.ts';
import {
  beginRestore,
  endRestore,
  holdAlone,
  interruptedIn,
  isUntouched,
  swapIn,
} from '#shared/stores/sqlite/backup/restore.ts';
import { type Command, Failure, type Shell } from '../arguments/command.ts';
import { makeNamedFolder } from '../arguments/named-folder.ts';
import { afterRecovery, toPostgres } from '../stores/restore-postgres.ts';
import { refuseDamaged, type Restored, stage, timeIn, type Wanted } from '../stores/stage.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'put a backup into the store; all servers must be stopped',
  operands: ['[FOLDER]'],
  options: {
    unchecked: {
      help: 'also if files have changed or have no digests (a damaged backup)',
    },
    replace: { help: 'if there is a store, move it aside first; nothing is deleted' },
    database: {
      help: 'after you restored PostgreSQL itself to an earlier point: revoke all issued credentials',
    },
  },
  details: [
    'FOLDER is a folder that `countersign backup` has written, from SQLite or PostgreSQL. The command only reads it, and',
    'restores into either. Stop all servers first. After an interruption, run the command again: no server starts on half a',
    'restore. A restore that fails before it has moved anything leaves the former store as it was.',
    'After you restored PostgreSQL itself (a dump, a point in time), run the command with --database instead of FOLDER.',
    'The servers need the master secret that they had at the backup. People, clients and API keys are as they were',
    'then, with the old passwords. Disable or remove again everything that you disabled or removed since.',
    'Tokens, grants and sign-ins from before the restore are refused.',
  ],
  run: async ({ operands: [folder], flag }, shell) => {
    const { store, data } = await loadConfig(shell.env);
    if (flag('database')) {
      if (folder !== undefined) throw new Failure('name a FOLDER, or add --database, not both');
      if (store.kind === 'postgres') return afterRecovery(store);
      throw new Failure('--database is for PostgreSQL: name the FOLDER of a backup');
    }
    if (folder === undefined) throw new Failure('name the FOLDER of a backup, or add --database');
    if (!hasSqlite(folder)) throw new Failure(`${folder} is no backup: it has no state.db`);
    if (resolve(folder) === resolve(data)) throw new Failure(`${folder} is the data folder itself`);
    makeNamedFolder(data);
    const wanted = { folder, data, unchecked: flag('unchecked'), replace: flag('replace') };
    const restored =
      store.kind === 'postgres'
        ? await toPostgres(store, wanted, shell)
        : await toSqlite(wanted, shell);
    const { files, missing, mistakes, replaced, where, to } = restored;
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
        `Restored the state and ${counted(files, 'content file')} of ${folder} to ${to}.`,
        ...(missing > 0 ? [`Documents lack ${counted(missing, 'content file')}.`] : []),
        ...(mistakes.length > 0 ? ['The backup was damaged:', ...mistakes] : []),
        ...(where === undefined ? [] : [`What was there is in ${where}.`]),
        'Start the servers with the master secret of the time of the backup.',
      ],
    };
  },
};

async function toSqlite(
  { folder, data, unchecked, replace }: Wanted,
  shell: Shell,
): Promise<Restored> {
  using alone = hold(data);
  if (alone === undefined) {
    throw new Failure(
      `another process has the store at ${data} open, or restores it: stop all servers first`,
    );
  }
  const interrupted = interruptedIn(resolve(data));
  const hasStore = hasSqlite(data) || existsSync(join(data, 'content'));
  if (hasStore && interrupted === undefined && !replace) {
    throw new Failure(
      `there is a store at ${data} already. With --replace it is moved aside, into a folder beside it`,
    );
  }
  const aside = interrupted ?? join(resolve(data), `replaced-${timeIn(shell)}`);
  const staged = join(data, 'restoring');
  if (interrupted === undefined) beginRestore(data, aside);
  const mistakes = checkBackup(folder);
  let content: Awaited<ReturnType<typeof stage>>;
  try {
    if (!unchecked) refuseDamaged(folder, mistakes);
    content = await stage(folder, staged, shell, 'sqlite');
  } catch (error) {
    if (isUntouched(aside)) endRestore(data);
    throw error;
  }
  swapIn(data, staged, aside);
  await rm(staged, { recursive: true });
  endRestore(data);
  const isKept = readdirSync(aside).length > 0;
  if (!isKept) rmdirSync(aside);
  return { ...content, mistakes, ...(isKept && { replaced: aside, where: aside }), to: data };
}

/** Locks the data folder (`holdAlone`). Throws `Failure` if the folder cannot be written. */
function hold(data: string): Disposable | undefined {
  try {
    return holdAlone(data);
  } catch (error) {
    throw new Failure(`cannot restore to ${data}: ${(error as Error).message}`);
  }
}
