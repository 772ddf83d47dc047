import type { Source } from './of-operation.ts';
import { fileContent } from '../arguments/bounded-file.ts';

/** A member that is the content of a file. */
interface Content {
  /** Names the file. */
  readonly option: string;
  readonly help: string;
  /** Default: it is the text. */
  readonly read?: (text: string) => unknown;
}

/** Returns where members come from that are the content of files. */
export function contentOf(members: Readonly<Record<string, Content>>): Source {
  const all = Object.entries(members);
  return {
    members: Object.keys(members),
    options: Object.fromEntries(
      all.map(([, { option, help }]) => [option, { value: 'FILE', help }]),
    ),
    async read(input) {
      const given: Record<string, unknown> = {};
      const from: Record<string, string> = {};
      for (const [member, { option, read = String }] of all) {
        const file = input.text(option);
        if (file === undefined) continue;
        given[member] = read((await fileContent(file)).toString());
        from[member] = file;
      }
      return { given, from };
    },
  };
}
