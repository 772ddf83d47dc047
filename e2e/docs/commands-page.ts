import type { Command } from '#shared/cli/arguments/command.ts';
import { grouped, help } from '#shared/cli/arguments/help.ts';
import { COMMANDS } from '#shared/cli/commands.ts';
import { block, code, GENERATED, table } from './markdown.ts';

/** The page of all commands of the command line. */
export function commandsPage(commands: readonly Command[] = COMMANDS): string {
  return [
    GENERATED,
    '# Commands',
    '',
    '`npm run -s cli -- COMMAND` runs a command in a clone, `countersign COMMAND` where the package is installed. With `--json` the result is one line of JSON. Exit codes: 0 done, 1 failed, 2 wrong usage. With `--json` the last line on standard error says why, with a [code](refusals.md#operations). The commands use the configuration of the servers.',
    '',
    ...grouped(commands).flatMap((group) => [
      `**${group.title}**`,
      '',
      table(
        ['Command', 'What it does'],
        group.commands.map(({ name, summary }) => [
          `[${code(name)}](#${name.replaceAll(' ', '-')})`,
          sentence(summary),
        ]),
      ).join('\n'),
      '',
    ]),
    ...commands.flatMap((command) => [
      `## ${code(command.name)}`,
      '',
      block('text', help(command).join('\n')),
      '',
    ]),
  ].join('\n');
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
