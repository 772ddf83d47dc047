import { VERIFIER_KINDS } from '#shared/auth/schemes/list.ts';
import { parseDirectoryFile } from '#shared/people/file/directory-file.ts';
import { importDirectory } from '#shared/people/file/import-directory.ts';
import type { Command } from '../arguments/command.ts';
import { fileContent } from '../arguments/read-file.ts';
import { withPeople } from '../stores/with-people.ts';

export const directoryImport: Command = {
  name: 'directory import',
  store: 'makes',
  summary:
    'add and replace people, keys, passkeys and second factors from a file that `directory export` wrote',
  operands: ['FILE'],
  options: { 'reuse-name': { help: 'accept names of people who were removed' } },
  details: [
    'The whole file is checked first; a broken one changes nothing. People are replaced by name and keep the',
    'identifier that they have here; their sessions, grants and tokens end. Keys and passkeys are replaced by identifier.',
    'Second factors open only under the master secret of the export: `user recover NAME --second-factor` removes one.',
    'People who are not in the file stay as they are. After an interruption, run the command again.',
  ],
  run: async ({ operands: [file = ''], flag }, shell) => {
    const content = await fileContent(file);
    const directory = parseDirectoryFile(content, VERIFIER_KINDS);
    const former = flag('reuse-name') ? 'reused' : 'refused';
    const counts = await withPeople(shell, (store) => importDirectory(store, directory, former));
    return {
      json: counts,
      lines: Object.entries(counts).map(
        ([what, { added, replaced }]) =>
          `${what.replace('_', ' ')}: ${added} added, ${replaced} replaced`,
      ),
    };
  },
};
