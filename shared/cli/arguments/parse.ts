import { parseArgs } from 'node:util';
import { nearest } from '#shared/base/nearest.ts';
import { type Command, type Input, UsageError } from './command.ts';
import { optionsOf } from './help.ts';

/** Parses the arguments of a command. Throws `UsageError` if the command does not accept them. */
export function parseInput(command: Command, args: readonly string[]): Input {
  const options = optionsOf(command);
  const { values, positionals } = parse(
    args,
    Object.fromEntries(
      Object.entries(options).map(([name, { value }]) => [
        name,
        {
          type: value === undefined ? ('boolean' as const) : ('string' as const),
          multiple: true,
          ...(name === 'help' && { short: 'h' }),
        },
      ]),
    ),
  );
  const texts = (option: string) =>
    (values[option] ?? []).filter((value) => typeof value === 'string');
  const flag = (option: string) => values[option] !== undefined;
  const input = { operands: positionals, texts, flag, text: (option: string) => texts(option)[0] };
  if (flag('help')) return input;

  for (const [name, { value, multiple, required }] of Object.entries(options)) {
    const given = texts(name).length;
    if (value !== undefined && given > 1 && !multiple)
      throw new UsageError(`--${name} is given twice`);
    if (required && given === 0) throw new UsageError(`--${name} ${value} is missing`);
  }
  checkOperands(command, positionals);
  return input;
}

type ArgOptions = Record<string, { type: 'boolean' | 'string'; multiple: true; short?: string }>;

function parse(args: readonly string[], options: ArgOptions) {
  try {
    const { values, positionals } = parseArgs({
      args: args.map((text) => (NAME.test(text) ? MARK + text : text)),
      options,
      allowPositionals: true,
    });
    const plain = Object.entries(values).map(([name, given = []]) => [name, given.map(unmarked)]);
    return {
      values: Object.fromEntries(plain) as typeof values,
      positionals: positionals.map(unmarked),
    };
  } catch (error) {
    throw new UsageError(mistake((error as Error).message.replaceAll(MARK, ''), options));
  }
}

/** Returns the message for an unknown option, with the option that the user probably meant. */
function mistake(message: string, options: ArgOptions): string {
  const [, unknown] = /^Unknown option '(-[^]*?)'(?:\.|$)/.exec(message) ?? [];
  if (unknown === undefined) return message;
  const meant = nearest(unknown.replace(/^-+/, ''), Object.keys(options));
  const hint = meant === undefined ? '' : `. Did you mean --${meant}?`;
  return `There is no option ${unknown}${hint}`;
}

/**
 * Matches a random or hashed name in base64url that begins with a dash, as one in 64 does. Options, which begin with
 * a dash, too, are words in lower case.
 */
const NAME = /^-(?=.*[A-Z0-9_])[A-Za-z0-9_-]{15,}$/;
/** Marks such a name, so that the parser does not read it as an option. No argument of a process can contain NUL. */
const MARK = '\0';

const unmarked = <T extends string | boolean>(value: T): T =>
  typeof value === 'string' && value.startsWith(MARK) ? (value.slice(1) as T) : value;

function checkOperands({ operands = [] }: Command, given: readonly string[]): void {
  const missing = operands.find((name, at) => !name.startsWith('[') && !given[at]);
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const surplus = operands.at(-1)?.endsWith('...]') ? undefined : given[operands.length];
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one operand too many`);
}
