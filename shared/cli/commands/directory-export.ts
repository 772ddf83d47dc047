import { counted } from '#shared/base/counted.ts';
import { everybody } from '#shared/people/everybody.ts';
import { formatDirectoryFile } from '#shared/people/file/format-directory.ts';
import type { Command } from '../arguments/command.ts';
import { writeNewFile } from '../files/new-file.ts';
import { withStores } from '../stores/with-stores.ts';

export const directoryExport: Command = {
  name: 'directory export',
  store: 'opens',
  summary: 'write people and keys to a new file that only its owner can read',
  operands: ['FILE'],
  details: [
    'The file has the hash of each password, the verifiers of Digest, Mutual and SCRAM, the hashes of API keys, and',
    'public keys. Anybody with the HA1 of Digest can sign in as that person in its realm: keep the file as secret as',
    'a password.',
  ],
  run: ({ operands: [file = ''] }, shell) =>
    withStores(shell, async ({ people, apiKeys, publicKeys }) => {
      const keys = await apiKeys.list();
      const ids = new Set<string>();
      async function* noted() {
        for await (const whole of everybody(people)) {
          ids.add(whole.person.id);
          yield whole;
        }
      }
      let count = 0;
      async function* ofThem() {
        for await (const slice of publicKeys.list()) {
          for (const key of slice) {
            // Somebody who was added meanwhile is not in the file.
            if (key.owner.kind === 'person' && !ids.has(key.owner.id)) continue;
            count += 1;
            yield key;
          }
        }
      }
      await writeNewFile(file, formatDirectoryFile(noted(), keys, ofThem()));
      const counts = { people: ids.size, api_keys: keys.length, public_keys: count };
      return {
        json: { file, ...counts },
        lines: [
          `Wrote ${counted(ids.size, 'person', 'people')}, ${counted(keys.length, 'API key')} and ${counted(count, 'public key')} to ${file}.`,
        ],
      };
    }),
};
