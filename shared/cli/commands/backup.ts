import { counted } from '#shared/base/counted.ts';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '#shared/config/load.ts';
import { backupSqlite } from '#shared/stores/sqlite/backup/backup.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { copyContent } from '../stores/copy-content.ts';
import { makeNamedFolder } from '../arguments/named-folder.ts';
import { demandStore } from '../stores/with-stores.ts';

const ATTEMPTS = 20;

export const backup: Command = {
  name: 'backup',
  summary:
    'copy people, clients, all keys, revocations and documents to a new folder while the servers run',
  operands: ['FOLDER'],
  details: [
    'FOLDER must be empty or missing. In it afterwards: state.db, with the content of short documents, and',
    'that of the others in content. Not in it: the master secret, without which the signing keys cannot be opened (keep it',
    'elsewhere), and what would undo a revocation: tokens, also those for PrivateToken, grants and sign-ins',
    'end with a restore.',
    'To restore: stop the servers, then `countersign restore FOLDER`. People, clients and API keys are as they',
    'were then: passwords are the old ones, and who or what was disabled or removed since has to be again.',
  ],
  run: async ({ operands: [folder = ''] }, shell) => {
    const config = await loadConfig(shell.env);
    const { store, data } = config;
    if (store.kind === 'redis') {
      throw new Failure(
        `the state is in Redis: back it up with Redis's own tools (BGSAVE, or a copy of its append-only files), then copy ${join(data, 'content')}. After a restore, before the servers start, delete {${store.prefix}}:epoch and every key with :artefact: in it, or what was ended or spent since comes back`,
      );
    }
    demandStore(config);
    await makeEmpty(folder);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      await backupSqlite(data, folder);
      const { copied, gone } = await copyContent(data, folder, shell);
      if (gone === 0) {
        return {
          json: { folder, files: copied },
          lines: [
            `Copied the state and ${counted(copied, 'content file')} to ${folder}. The master secret is not in it.`,
          ],
        };
      }
      // A document was replaced between the rows and its content: take the rows anew.
      await rm(join(folder, 'state.db'));
    }
    await rm(folder, { recursive: true });
    throw new Failure(
      'content of documents is missing: either they change faster than they can be copied (try again later), or files of it are lost',
    );
  },
};

async function makeEmpty(folder: string): Promise<void> {
  makeNamedFolder(folder);
  if ((await readdir(folder)).length > 0) throw new Failure(`${folder} is not empty`);
}
