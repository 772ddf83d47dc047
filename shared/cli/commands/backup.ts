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
    'copy people, clients, all keys, passkeys, revocations and documents to a new folder while the servers run',
  operands: ['FOLDER'],
  details: [
    'FOLDER must be empty or missing. The command writes state.db, which has everything but long documents, and',
    'content, which has those. A backup has no master secret: keep that elsewhere, since the signing keys cannot be',
    'opened without it. A backup has no tokens, grants or sign-ins either: they would undo revocations.',
    'To restore: stop the servers, then run `countersign restore FOLDER`. People, clients and API keys are then as',
    'they were at the backup. Disable or remove again those that you disabled or removed since.',
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
