import { counted } from '#shared/base/counted.ts';
import { everybody } from '#shared/people/everybody.ts';
import { formatDirectoryFile } from '#shared/people/file/format-directory.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { writeNewFile } from '../files/new-file.ts';
import { exportDeclared } from '../declared/export-declared.ts';
import { withStores } from '../stores/with-stores.ts';
import { VERIFIER_KINDS } from '#shared/auth/schemes/list.ts';
import { parseDirectoryFile } from '#shared/people/file/directory-file.ts';
import { loadConfig } from '#shared/config/load.ts';
import { findMasterSecret } from '#shared/config/secret.ts';
import type { DirectoryContent } from '#shared/people/file/directory-content.ts';
import { opens } from '#shared/people/second-factor/second-factor.ts';
import { importDirectory } from '#shared/people/file/import-directory.ts';
import { fileContent } from '../arguments/bounded-file.ts';
import { withPeople } from '../stores/with-people.ts';

export const directoryExport: Command = {
  name: 'directory export',
  store: 'opens',
  summary:
    'write people, keys, passkeys and second factors to a new file that only its owner can read',
  operands: ['FILE'],
  options: {
    declared: {
      help: 'write a file for apply instead: people and clients without credentials, API keys',
    },
  },
  details: [
    'The file has the hash of each password, and the verifiers of Digest, Mutual and SCRAM. It has the hashes of API keys,',
    'public keys, and the public halves of passkeys. Anybody with the HA1 of Digest can sign in as that person in its realm:',
    'keep the file as secret as a password. Second factors are encrypted; only the same master secret decrypts them.',
  ],
  run: ({ operands: [file = ''], flag }, shell) =>
    withStores(shell, async (stores, _, recorder) => {
      if (flag('declared')) return exportDeclared(file, stores, recorder);
      const { people, apiKeys, publicKeys, passkeys, secondFactors } = stores;
      const keys = await apiKeys.list();
      const ids = new Set<string>();
      async function* noted() {
        for await (const whole of everybody(people)) {
          ids.add(whole.person.id);
          yield whole;
        }
      }
      const counts = {
        people: 0,
        api_keys: keys.length,
        public_keys: 0,
        passkeys: 0,
        second_factors: 0,
      };
      /** Yields only entries of people who are in the file. People who were added during the export are not in it. */
      async function* ofThem<T>(
        part: 'public_keys' | 'passkeys' | 'second_factors',
        all: AsyncIterable<readonly T[]>,
        personOf: (item: T) => string | undefined,
      ) {
        for await (const slice of all) {
          for (const item of slice) {
            const id = personOf(item);
            if (id !== undefined && !ids.has(id)) continue;
            counts[part] += 1;
            yield item;
          }
        }
      }
      const parts = {
        people: noted(),
        api_keys: keys,
        public_keys: ofThem('public_keys', publicKeys.list(), ({ owner }) =>
          owner.kind === 'person' ? owner.id : undefined,
        ),
        passkeys: ofThem('passkeys', passkeys.list(), ({ accountId }) => accountId),
        second_factors: ofThem(
          'second_factors',
          secondFactors.list(),
          ({ accountId }) => accountId,
        ),
      };
      await writeNewFile(file, formatDirectoryFile(parts));
      counts.people = ids.size;
      await recorder.record({ kind: 'directory.exported', count: counts.people });
      const written = [
        counted(counts.people, 'person', 'people'),
        counted(counts.api_keys, 'API key'),
        counted(counts.public_keys, 'public key'),
        counted(counts.passkeys, 'passkey'),
      ].join(', ');
      return {
        json: { file, ...counts },
        lines: [
          `Wrote ${written} and ${counted(counts.second_factors, 'second factor')} to ${file}.`,
        ],
      };
    }),
};

export const directoryImport: Command = {
  name: 'directory import',
  store: 'makes',
  repeatable: true,
  summary:
    'add and replace people, with all that they sign in with, from a file of `directory export`',
  operands: ['FILE'],
  options: { 'reuse-name': { help: 'accept names of people who were removed' } },
  details: [
    'The command checks the whole file first; a broken file changes nothing. People are replaced by name and keep the',
    'identifier that they have here; their sessions, grants and tokens end. Keys and passkeys are replaced by identifier.',
    'Second factors need the master secret of the export; with another secret the command refuses the file.',
    'People who are not in the file stay as they are. After an interruption, run the command again. FILE has at most 256 MiB;',
    '- is standard input.',
  ],
  run: async ({ operands: [file = ''], flag }, shell) => {
    const content = await (file === '-' ? shell.readStdin() : fileContent(file));
    const directory = parseDirectoryFile(content, VERIFIER_KINDS);
    const former = flag('reuse-name') ? 'reused' : 'refused';
    const config = await loadConfig(shell.env);
    if (directory.second_factors.length > 0) {
      refuseSealed(directory, await findMasterSecret(config, shell.env));
    }
    const counts = await withPeople(
      shell,
      (store) =>
        importDirectory(store, directory, former, (entries) =>
          shell.note(`${counted(entries, 'entry', 'entries')} written so far`),
        ),
      config,
    );
    return {
      json: counts,
      lines: Object.entries(counts).map(
        ([what, { added, replaced }]) =>
          `${what.replace('_', ' ')}: ${added} added, ${replaced} replaced`,
      ),
    };
  },
};

/** Throws `Failure` for a second factor whose secret this server cannot decrypt: the person would be locked out. */
function refuseSealed(
  { people, second_factors }: DirectoryContent,
  master: Buffer | undefined,
): void {
  const sealed = second_factors.find((factor) => master === undefined || !opens(master, factor));
  if (sealed === undefined) return;
  const name = people.find(({ id }) => id === sealed.accountId)?.name;
  throw new Failure(
    `the second factor of ${name} was sealed under another master secret: give that one, or take second_factors out of the file`,
  );
}
