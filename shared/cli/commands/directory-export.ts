import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { everybody } from '#shared/people/everybody.ts';
import { formatDirectoryFile } from '#shared/people/file/format-directory.ts';
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
    withStores(shell, async ({ people, apiKeys }) => {
      const keys = await apiKeys.list();
      let count = 0;
      async function* counted() {
        for await (const person of everybody(people)) {
          count += 1;
          yield person;
        }
      }
      await writeNew(file, formatDirectoryFile(counted(), keys));
      return {
        json: { file, people: count, api_keys: keys.length },
        lines: [`Wrote ${count} people and ${keys.length} API keys to ${file}.`],
      };
    }),
};

/** Leaves no half of it behind. */
async function writeNew(file: string, content: AsyncIterable<string>): Promise<void> {
  const refuse = (error: NodeJS.ErrnoException): never => {
    if (error.code === undefined) throw error;
    throw new Failure(
      error.code === 'EEXIST'
        ? `${file} is there already: name another`
        : `cannot write ${file} (${error.code})`,
    );
  };
  const handle = await open(file, 'wx', 0o600).catch(refuse);
  try {
    await pipeline(content, handle.createWriteStream({ flush: true }));
  } catch (error) {
    await rm(file);
    refuse(error as NodeJS.ErrnoException);
  }
}
