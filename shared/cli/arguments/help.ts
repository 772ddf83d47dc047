import type { Command, Option } from './command.ts';
import { columns } from '#shared/base/printable.ts';
import { grouped } from './groups.ts';

/**
 * Returns all options of a command: its own, the options of commands that open the stores, and the options of every
 * command.
 */
export const optionsOf = ({ options, store }: Command): Readonly<Record<string, Option>> => ({
  ...options,
  ...(store === 'opens' && STORE_OPTIONS),
  ...COMMON_OPTIONS,
});

const STORE_OPTIONS: Readonly<Record<string, Option>> = {
  create: { help: 'make the store if the data folder or the schema has none' },
};

const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  json: { help: 'print the result as one line of JSON' },
  help: { help: 'print this help' },
};

type Line = Pick<Command, 'name' | 'summary'>;

/** The launcher runs this command. */
const START: Line = {
  name: 'start',
  summary: 'run both servers, or one, in the foreground: start --help',
};

/** Returns the lines of the help that list commands. `whole`: all commands in groups, with `start`. */
export function overview(commands: readonly Command[], whole: boolean): string[] {
  return [
    'Usage: countersign COMMAND [OPTION]...',
    '',
    ...(whole ? inGroups([START, ...commands]) : [...linesOf(commands), '']),
    'countersign COMMAND --help explains a command. countersign --version prints the release.',
    'Commands read the same configuration as the servers: the file that COUNTERSIGN_CONFIG names, and the variables of',
    'settings, such as COUNTERSIGN_DATA and COUNTERSIGN_POSTGRES_URL.',
    'Exit codes: 0 done, 1 failed, 2 wrong usage.',
  ];
}

const linesOf = (commands: readonly Line[]) =>
  columns(commands.map(({ name, summary }) => [`  ${name}`, summary]));

/**
 * Returns the lines with a title above each group, and an empty line below. The summaries of all groups begin in the
 * same column.
 */
function inGroups(commands: readonly Line[]): readonly string[] {
  const groups = grouped(commands).filter((group) => group.commands.length > 0);
  const lines = linesOf(groups.flatMap((group) => group.commands));
  return groups.flatMap(({ title, commands: { length } }) => {
    const own = lines.splice(0, length);
    own.unshift(`${title}:`);
    own.push('');
    return own;
  });
}

export function help(command: Command): string[] {
  const options = Object.entries(optionsOf(command));
  return [
    `Usage: ${usage(command)}`,
    '',
    `${command.summary}.`,
    ...(command.details ?? []),
    '',
    'Options:',
    ...columns(options.map(([name, option]) => [`  ${spelled(name, option)}`, option.help])),
  ];
}

export function usage({ name, operands = [], options = {} }: Command): string {
  const spelledOptions = Object.entries(options).map(([option, kind]) => {
    const text = spelled(option, kind) + (kind.multiple ? '...' : '');
    return kind.required ? text : `[${text}]`;
  });
  return ['countersign', name, ...operands, ...spelledOptions].join(' ');
}

const spelled = (name: string, { value }: Option) =>
  value === undefined ? `--${name}` : `--${name} ${value}`;
