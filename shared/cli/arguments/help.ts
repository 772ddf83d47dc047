import type { Command, Option } from './command.ts';
import { columns } from '#shared/base/printable.ts';

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

/** The groups of the help, by what an operator or developer wants to do: first words of commands, or whole names. */
const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Set up', ['start', 'config', 'apply', 'admin', 'mail', 'completion']],
  ['Applications, API keys and spaces', ['client', 'key', 'realm']],
  ['People', ['user']],
  [
    'Log in, get tokens, send requests',
    ['login', 'whoami', 'logout', 'token', 'request', 'gnap', 'push', 'private-token'],
  ],
  ['Find out what is wrong', ['explain', 'token explain', 'signature']],
  ['Watch the servers', ['server', 'revocation', 'cache', 'audit']],
  ['Keys of the servers', ['signing-keys', 'private-token keys', 'private-token rotate']],
  ['Back up and move', ['backup', 'restore', 'directory', 'redis']],
];

export interface Group<Named> {
  readonly title: string;
  readonly commands: readonly Named[];
}

/** Returns the commands in their groups. A whole name has precedence over a first word. */
export function grouped<Named extends Pick<Command, 'name'>>(
  commands: readonly Named[],
): readonly Group<Named>[] {
  const titleWith = (name: string) => GROUPS.find(([, names]) => names.includes(name))?.[0];
  const titleOf = ({ name }: Named) => titleWith(name) ?? titleWith(name.split(' ')[0] ?? '');
  return GROUPS.map(([title]) => ({
    title,
    commands: commands.filter((command) => titleOf(command) === title),
  }));
}

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
