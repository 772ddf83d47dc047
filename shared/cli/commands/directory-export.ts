import { writeFile } from 'node:fs/promises';
import { formatDirectory } from '#shared/directory/directory-file.ts';
import { type Command, Failure } from '../command.ts';
import { withStores } from '../with-stores.ts';

export const directoryExport: Command = {
  name: 'directory export',
  summary: 'write people and API keys to a new file that its owner alone may read',
  operands: ['FILE'],
  details: [
    'In it: the hash of each password, the verifiers of Digest and SCRAM, and the hashes of API keys. Who',
    'has an HA1 of Digest can be that person in its realm without the password: keep the file like one.',
  ],
  run: ({ operands: [file = ''] }, shell) =>
    withStores(shell, async (stores) => {
      const [people, keys] = await Promise.all([stores.people.list(), stores.apiKeys.list()]);
      await writeFile(file, formatDirectory(people, keys), {
        mode: 0o600,
        flag: 'wx',
        flush: true,
      }).catch((error: NodeJS.ErrnoException) => {
        throw new Failure(
          error.code === 'EEXIST'
            ? `${file} is there already: name another`
            : `cannot write ${file} (${error.code})`,
        );
      });
      const counts = { people: people.length, api_keys: keys.length };
      return {
        json: { file, ...counts },
        lines: [`Wrote ${counts.people} people and ${counts.api_keys} API keys to ${file}.`],
      };
    }),
};
