import { counted } from '#shared/base/counted.ts';
import { readdir, rm } from 'node:fs/promises';
import { loadConfig } from '#shared/config/load.ts';
import { checkBackup } from '#shared/stores/backup/check.ts';
import { ContentChanges, copyRows, copyStore } from '#shared/stores/backup/copy-store.ts';
import { IrregularFile } from '#shared/stores/backup/regular-file.ts';
import { newestIn } from '#shared/stores/backup/scheduled.ts';
import { readSums, writeSums } from '#shared/stores/backup/sums.ts';
import type { StoreSettings } from '#shared/stores/settings.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { makeNamedFolder } from '../arguments/named-folder.ts';
import { demandStore, withStores } from '../stores/with-stores.ts';
import { hasSqlite } from '#shared/stores/sqlite/backup/restore.ts';

export const backup: Command = {
  name: 'backup',
  summary: 'copy the store, with keys and documents, to a new folder while the servers run',
  operands: ['FOLDER'],
  options: {
    unchecked: {
      help: 'also if documents are damaged; the copy has their remains, and is no valid backup',
    },
  },
  details: [
    'FOLDER must be empty or missing. The command writes state.db with everything except long documents, the folder',
    'content with these, and SHA256SUMS with the digests for `countersign backup check`. A backup has no master secret:',
    'keep that elsewhere, since only this secret opens the signing keys. A backup has no tokens, grants or sign-ins',
    'either, since a restore of these would undo revocations.',
    'The command reads the copy back, and records it as the last successful backup. It makes no backup if the content',
    'of a document is lost, shorter, or differs from the last backup of the schedule. Then write or delete the documents',
    'that it names over HTTP, or take their files from that backup.',
    'To restore: stop the servers, then run `countersign restore FOLDER`. People, clients and API keys are then as',
    'they were at the backup. Disable or remove again everything that you disabled or removed since.',
  ],
  run: async ({ operands: [folder = ''], flag }, shell) => {
    const config = await loadConfig(shell.env);
    const { store, data } = config;
    demandStore(config);
    await makeEmpty(folder);
    const began = shell.clock.now();
    const before = config.backup?.folder === undefined ? undefined : newestIn(config.backup.folder);
    const { files, mistakes } = await copyInto({
      store,
      data,
      folder,
      before,
      unchecked: flag('unchecked'),
    });
    const isGood = mistakes.length === 0;
    if (isGood) await withStores(shell, ({ lastBackup }) => lastBackup.note(began), config);
    return {
      json: { folder, files, ...(!isGood && { mistakes }) },
      lines: [
        `Copied the state and ${counted(files, 'content file')} to ${folder}. The master secret is not in it.`,
        ...(isGood ? [] : ['It is damaged, and only `restore --unchecked` takes it:', ...mistakes]),
      ],
    };
  },
};

async function makeEmpty(folder: string): Promise<void> {
  makeNamedFolder(folder);
  if ((await readdir(folder)).length > 0) throw new Failure(`${folder} is not empty`);
}

interface Copied {
  readonly store: StoreSettings;
  readonly data: string;
  readonly folder: string;
  /** The newest backup of the schedule. */
  readonly before: string | undefined;
  readonly unchecked: boolean;
}

/**
 * Copies the store and reads the copy back. Resolves to the number of content files, and to what is missing or damaged;
 * if anything is, and `unchecked` is false, it rejects with `Failure`, and the folder is removed.
 */
async function copyInto({
  store,
  data,
  folder,
  before,
  unchecked,
}: Copied): Promise<{ readonly files: number; readonly mistakes: readonly string[] }> {
  try {
    const files = await copyStore(data, folder, {
      copyState: (from, to) => copyRows(store, from, to),
      writeSums: async (to) => writeSums(to),
    });
    const mistakes = checkBackup(folder, before);
    if (mistakes.length > 0 && !unchecked) {
      throw new Failure(
        'the copy is not whole:',
        ...mistakes,
        'Write damaged documents again or delete them over HTTP. To copy what is left, add --unchecked',
      );
    }
    return { files, mistakes };
  } catch (error) {
    const isOurs = [ContentChanges, IrregularFile, Failure].some((kind) => error instanceof kind);
    if (!isOurs) throw error;
    await rm(folder, { recursive: true });
    throw error instanceof Failure ? error : new Failure((error as Error).message);
  }
}

export const backupCheck: Command = {
  name: 'backup check',
  summary: 'read a backup, and say whether it is complete',
  operands: ['FOLDER'],
  details: [
    'FOLDER is a folder that `countersign backup` or the setting `backup` has written. The command only reads. Every file is',
    'compared with its digest (SHA256SUMS, which `sha256sum -c` reads, too), every page of the database is read, and',
    'each document has its content. An attacker who can write to the folder can write the digests again.',
    'Servers may run meanwhile. The exit code is 1 if something is wrong.',
  ],
  run: async ({ operands: [folder = ''] }) => {
    if (!hasSqlite(folder)) throw new Failure(`${folder} is no backup: it has no state.db`);
    const mistakes = checkBackup(folder);
    if (mistakes.length > 0) {
      throw new Failure(`${folder} cannot be trusted:`, ...mistakes);
    }
    const files = readSums(folder)?.size ?? 0;
    return {
      json: { folder, files },
      lines: [`${counted(files, 'file')} read back, unchanged and whole.`],
    };
  },
};

export const backupRecord: Command = {
  name: 'backup record',
  summary: 'record that your own tools have just made a valid backup',
  operands: [],
  details: [
    'Run this command as the last step of such a backup, after a check. `server status`, /admin, the metric',
    'countersign_last_backup_timestamp_seconds and the warning `backup.overdue` in the log use this time.',
    '`countersign backup` and the setting `backup` with a folder record their backups themselves.',
  ],
  run: async (_, shell) => {
    const at = shell.clock.now();
    await withStores(shell, ({ lastBackup }) => lastBackup.note(at));
    return { json: { at }, lines: ['Noted.'] };
  },
};
