import { counted } from '#shared/base/counted.ts';
import { checkBackup } from '#shared/stores/backup/check.ts';
import { readSums } from '#shared/stores/backup/sums.ts';
import { hasSqlite } from '#shared/stores/sqlite/backup/has-sqlite.ts';
import { type Command, Failure } from '../arguments/command.ts';

export const backupCheck: Command = {
  name: 'backup check',
  summary: 'read a backup back, and say whether it is complete',
  operands: ['FOLDER'],
  details: [
    'FOLDER is a folder that `countersign backup` or the setting `backup` has written; it stays as it is. Every file is',
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
