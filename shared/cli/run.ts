import {
  type Command,
  Failure,
  type LongReport,
  type Report,
  type Shell,
  UsageError,
} from './arguments/command.ts';
import { help, overview } from './arguments/help.ts';
import { NoAnswer } from '#shared/client/send.ts';
import { nearest } from '#shared/base/nearest.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { Refused } from '#shared/refusals/operations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { parseInput } from './arguments/parse.ts';
import { printable, printableLines } from '#shared/base/printable.ts';

/** Runs the command that `args` names; resolves to the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function run(
  args: readonly string[],
  commands: readonly Command[],
  surroundings: Shell,
): Promise<number> {
  // Notes of a command may contain text of servers, which is escaped.
  const note = (line: string) => surroundings.note(printable(line));
  const shell = { ...surroundings, note };
  const command = commands.find(({ name }) => begins(args, name));
  if (command === undefined) return listCommands(args, commands, shell);
  try {
    const input = parseInput(command, args.slice(command.name.split(' ').length));
    if (input.flag('help')) {
      say(shell, help(command));
      return 0;
    }
    const creates = command.store === 'makes' || input.flag('create');
    const report = await command.run(input, { ...shell, creates });
    const asJson = input.flag('json');
    if ('slices' in report) {
      await printSlices(report, asJson, shell);
      return 0;
    }
    print(report, asJson, shell);
    return report.failed ? 1 : 0;
  } catch (error) {
    const status = error instanceof UsageError ? 2 : 1;
    if (args.includes('--json')) {
      shell.note(JSON.stringify(forPrograms(error as Error)));
      return status;
    }
    for (const line of linesOf(error as Error)) shell.note(line);
    if (command.repeatable && error instanceof StoreUnavailable) {
      shell.note('Run the command again: it does what is missing.');
    }
    if (isConnectionRefused(error)) shell.note('Start the server, or check the URL.');
    if (status === 2) shell.note(`Try: countersign ${command.name} --help`);
    return status;
  }
}

/**
 * Returns an error in the form for `--json`: with the code of a refused operation, or the code of the error's class.
 */
function forPrograms(error: Error) {
  const { message, cause } = error;
  const refused = [error, cause].find((one) => one instanceof Refused);
  if (refused) return { ...refused.words, message };
  const code = CODES.find(([kind]) => error instanceof kind)?.[1] ?? 'failed';
  return { code, message, ...(error instanceof ConfigError && { mistakes: error.mistakes }) };
}

/** The codes of errors that are not refusals of an operation. */
const CODES = [
  [UsageError, 'usage'],
  [ConfigError, 'configuration'],
  [StoreUnavailable, 'store-unavailable'],
] as const;

const linesOf = (error: Error): readonly string[] =>
  error instanceof Failure || error instanceof ConfigError ? error.lines : [error.message];

const isConnectionRefused = (error: unknown) =>
  error instanceof NoAnswer && (error.cause as NodeJS.ErrnoException).code === 'ECONNREFUSED';

const HELP = new Set(['help', '--help', '-h']);

/**
 * Handles arguments that name no command: it prints help for all commands or for a group, or an error. `help` and
 * `--help` may be anywhere.
 */
function listCommands(args: readonly string[], commands: readonly Command[], shell: Shell): number {
  const asked = args.some((arg) => HELP.has(arg));
  const words = args.filter((arg) => !arg.startsWith('-') && !HELP.has(arg));
  const command = asked && commands.find(({ name }) => begins(words, name));
  if (command) {
    say(shell, help(command));
    return 0;
  }
  const isGroup = inGroup(words, commands).length > 0;
  const meant = isGroup ? undefined : meantBy(words, commands);
  const group = inGroup(isGroup ? words : (meant ?? words).slice(0, 1), commands);
  const lines = group.length > 0 ? overview(group, false) : overview(commands, true);
  if (asked && (isGroup || words.length === 0)) {
    say(shell, lines);
    return 0;
  }
  // The list of all commands would scroll the error off the screen.
  const isShort = group.length > 0 || args.length === 0;
  for (const line of isShort ? lines : []) shell.note(line);
  if (isGroup && words.length > 0) shell.note(`Which command of "${words.join(' ')}" do you mean?`);
  else if (args.length > 0) shell.note(unknownCommand(words, meant));
  if (!isShort) shell.note('Try: countersign --help');
  return 2;
}

const begins = (words: readonly string[], name: string) =>
  `${words.join(' ')} `.startsWith(`${name} `);

const inGroup = (words: readonly string[], commands: readonly Command[]) =>
  commands.filter(({ name }) => name.startsWith(`${words.join(' ')} `));

/** Returns the words of the command or group that the user probably meant. */
function meantBy(
  words: readonly string[],
  commands: readonly Command[],
): readonly string[] | undefined {
  const names = commands.map(({ name }) => name);
  const groups = names.flatMap((name) => (name.includes(' ') ? (name.split(' ')[0] ?? []) : []));
  return nearest(words.slice(0, 2).join(' '), [...new Set(groups), ...names])?.split(' ');
}

function unknownCommand(words: readonly string[], meant: readonly string[] | undefined): string {
  const hint = meant === undefined ? '' : ` Did you mean "${meant.join(' ')}"?`;
  return `There is no command "${words.slice(0, 2).join(' ')}".${hint}`;
}

function print({ json, lines, content }: Report, asJson: boolean, shell: Shell): void {
  if (asJson) say(shell, [JSON.stringify(json)]);
  else if (content === undefined) say(shell, lines);
  else shell.out(shell.terminal ? printableLines(content.toString()) : content);
}

async function printSlices(
  { slices, apart }: LongReport,
  asJson: boolean,
  shell: Shell,
): Promise<void> {
  let before = '[';
  for await (const slice of slices) {
    if (!asJson || apart) {
      say(shell, asJson ? slice.json.map((element) => JSON.stringify(element)) : slice.lines);
      continue;
    }
    if (slice.json.length === 0) continue;
    shell.out(before + slice.json.map((element) => printable(JSON.stringify(element))).join(','));
    before = ',';
  }
  if (asJson && !apart) shell.out(before === '[' ? '[]\n' : ']\n');
}

function say(shell: Shell, lines: readonly string[]): void {
  shell.out(lines.map((line) => `${printable(line)}\n`).join(''));
}
