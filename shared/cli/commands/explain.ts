import { columns } from '#shared/base/printable.ts';
import { explain as explainText } from '#shared/explain/explain.ts';
import { RESULT_WORDS } from '#shared/explain/checks.ts';
import type { Explained } from '#shared/explain/explained.ts';
import { Unreadable } from '#shared/explain/unreadable.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { fileContent } from '../arguments/bounded-file.ts';

export const explain: Command = {
  name: 'explain',
  summary: 'explain a token, proof, challenge, credentials or field: its parts, and what is wrong',
  operands: ['FILE'],
  details: [
    'FILE: the text, or - to read it from standard input. The text is a token, a whole message, the output of curl -v, or',
    'an answer with a token in JSON. Lines of fields may be the text, too: Authorization, DPoP, WWW-Authenticate,',
    'Cache-Status, If.',
    'Exit code 1: a server would refuse a part of the text.',
  ],
  async run({ operands: [operand = '-'] }, shell) {
    const octets = await (operand === '-' ? shell.readStdin() : fileContent(operand));
    try {
      const explained = explainText(octets.toString(), shell.clock);
      const failed = explained.some(({ checks }) =>
        checks.some(({ result }) => result === 'wrong'),
      );
      return { json: explained, lines: explained.flatMap(linesOf), failed };
    } catch (error) {
      if (error instanceof Unreadable) throw new Failure(error.message);
      throw error;
    }
  },
};

function linesOf({ what, standard, parts, checks }: Explained): readonly string[] {
  const rows = parts.map(({ name, value }) => [`  ${name}`, value]);
  const results = checks.map(({ check, section, result, reason }) => [
    `  ${RESULT_WORDS[result]}`,
    `${check} (${section})${reason === undefined ? '' : ` ${reason}`}`,
  ]);
  return [...columns([[`${what} (${standard})`]]), ...columns(rows), ...columns(results)];
}
