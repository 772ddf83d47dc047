import { counted } from '#shared/base/counted.ts';
import { VERIFIER_KINDS } from '#shared/auth/schemes/list.ts';
import { parseDirectoryFile } from '#shared/people/file/directory-file.ts';
import { loadConfig } from '#shared/config/load.ts';
import { findMasterSecret } from '#shared/config/secret.ts';
import type { DirectoryContent } from '#shared/people/file/directory-content.ts';
import { opens } from '#shared/people/second-factor/second-factor.ts';
import { importDirectory } from '#shared/people/file/import-directory.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { fileContent } from '../arguments/bounded-file.ts';
import { withPeople } from '../stores/with-people.ts';

export const directoryImport: Command = {
  name: 'directory import',
  store: 'makes',
  repeatable: true,
  summary:
    'add and replace people, keys, passkeys and second factors from a file that `directory export` wrote',
  operands: ['FILE'],
  options: { 'reuse-name': { help: 'accept names of people who were removed' } },
  details: [
    'The whole file is checked first; a broken one changes nothing. People are replaced by name and keep the',
    'identifier that they have here; their sessions, grants and tokens end. Keys and passkeys are replaced by identifier.',
    'Second factors open only under the master secret of the export; under another one the file is refused.',
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

/** Throws `Failure` for a second factor that nobody could use: its person would be locked out. */
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
