import type * as z from 'zod';
import { loadConfig } from '#shared/config/load.ts';
import {
  type House,
  InputError,
  type Operation,
  readInput,
  type Told,
} from '#shared/operations/operation.ts';
import type { Page } from '#shared/operations/page.ts';
import { fromTexts, isOptional, kindOf, spellingOf } from '#shared/operations/texts.ts';
import {
  type Command,
  Failure,
  type Input,
  type Option,
  type OutputSlice,
  type Shell,
  UsageError,
} from '../arguments/command.ts';
import { openHouse } from './with-people.ts';

/** The command line's own part of an operation. */
interface View<Given extends z.ZodObject, Output extends z.ZodType> extends Pick<
  Command,
  'details'
> {
  /** The output for people, line by line; `now`: as of the clock. */
  lines(output: Told<Output>, given: z.output<Given>, now: number): readonly string[];
  /** Remarks for people, beside the output. */
  notes?(output: Told<Output>): readonly string[] | undefined;
  /** Whether the command ends with exit code 1 after this output. */
  failed?(output: Told<Output>): boolean;
  readonly source?: Source;
}

/** The source of members that are not arguments: a password, or the content of a file. */
export interface Source {
  /** The members. */
  readonly members: readonly string[];
  /** The options that say where they are. */
  readonly options: Readonly<Record<string, Option>>;
  /** Reads them. Throws `UsageError` and `Failure`. */
  read(input: Input, shell: Shell): Promise<Sourced>;
}

/** The members that a source has given. */
export interface Sourced {
  readonly given: Readonly<Record<string, unknown>>;
  /** For each member, the name of its source, for error messages. */
  readonly from?: Readonly<Record<string, string>>;
  /** Takes back what reading has made, if the operation is refused. */
  undo?(): Promise<void>;
}

/** Returns the command of an operation: its members are operands and options. */
export function commandOf<I extends z.ZodObject, O extends z.ZodType>(
  operation: Operation<I, O>,
  { lines, notes, failed, source, ...view }: View<I, O>,
): Command {
  return {
    ...shapeOf(operation, new Set(source?.members), source?.options),
    ...view,
    run: async (input, shell) => {
      const { given: sourced = {}, from, undo } = (await source?.read(input, shell)) ?? {};
      try {
        const given = givenBy(operation, input, sourced, from);
        await using house = await openFor(operation, given, shell, from);
        const json = await inWords(operation, () => operation.run(given, house), from);
        for (const note of notes?.(json) ?? []) shell.note(`Note: ${note}`);
        return {
          json,
          lines: lines(json, given, shell.clock.now()),
          ...(failed && { failed: failed(json) }),
        };
      } catch (error) {
        await undo?.();
        throw error;
      }
    },
  };
}

/** A list of which a command prints every page. */
interface ListView<I extends z.ZodObject, Output extends z.ZodType<Page>> extends Pick<
  Command,
  'details'
> {
  /** The lines of a page. `widths`: those of the columns of the pages before (`table`); `now`: as of the clock. */
  lines(items: Told<Output>['items'], widths: number[], now: number): readonly string[];
  /** The line that says that there is nothing of what was asked for. */
  nothing(given: z.output<I>): string;
  /** The last lines, about all items: only of a list that is short enough to be kept until then. */
  end?(all: Told<Output>['items']): readonly string[];
}

/** Returns the command of a list, which prints all its pages: its output is the array of their items. */
export function listCommandOf<I extends z.ZodObject, O extends z.ZodType<Page>>(
  operation: Operation<I, O>,
  { lines, nothing, end, ...view }: ListView<I, O>,
): Command {
  async function* pages(input: Input, shell: Shell): AsyncGenerator<OutputSlice> {
    const given = givenBy(operation, input);
    await using house = await openFor(operation, given, shell);
    const widths: number[] = [];
    const all: unknown[] = [];
    let after: string | undefined;
    let isEmpty = true;
    do {
      const { items, next } = await inWords(operation, () =>
        operation.run({ ...given, after }, house),
      );
      // A page may have no rows though there is a next one.
      if (items.length > 0) {
        isEmpty = false;
        yield { json: items, lines: lines(items, widths, shell.clock.now()) };
        if (end) all.push(...items);
      }
      after = next;
    } while (after !== undefined);
    if (isEmpty) yield { json: [], lines: [nothing(given)] };
    else if (end) yield { json: [], lines: end(all) };
  }
  return {
    ...shapeOf(operation, PAGING),
    ...view,
    run: async (input, shell) => ({ slices: pages(input, shell) }),
  };
}

/** The members of a list that its command fills in itself. */
const PAGING: ReadonlySet<string> = new Set(['after', 'limit']);

/**
 * Returns what a command takes for an operation, without some members. `own`: options in place of those; one by the name of
 * a member stands in its place, if all do, else they come first.
 */
function shapeOf(
  { name, summary, input, operands, repeatable }: Operation,
  without: ReadonlySet<string> = new Set(),
  own: Readonly<Record<string, Option>> = {},
): Omit<Command, 'run'> {
  const isOperand = new Set<string>(operands);
  const options = Object.entries(input.shape).flatMap(([member, schema]): [string, Option][] => {
    const { option } = spelling(input, member);
    if (isOperand.has(member)) return [];
    if (!without.has(member)) return [[option, optionOf(member, schema as z.ZodType)]];
    return own[option] ? [[option, own[option]]] : [];
  });
  const names = new Set(options.map(([option]) => option));
  const inPlace = Object.keys(own).every((option) => names.has(option));
  return {
    name,
    summary,
    store: 'opens',
    ...(repeatable && { repeatable }),
    operands: operands.flatMap((member) => operandOf(member, input.shape[member] as z.ZodType)),
    options: { ...(!inPlace && own), ...Object.fromEntries(options) },
  };
}

/** The word for an operand in the help, in the brackets of what may be missing. */
function operandOf(member: string, schema: z.ZodType): string | readonly string[] {
  const { value } = spellingOf(member, schema);
  const several = kindOf(schema) === 'texts';
  const further = `[${value}${several ? '...' : ''}]`;
  if (several ? schema.safeParse([]).success : isOptional(schema)) return further;
  return several ? [value, further] : value;
}

function optionOf(member: string, schema: z.ZodType): Option {
  const kind = kindOf(schema);
  const { value } = spellingOf(member, schema);
  return {
    ...(kind !== 'flag' && { value }),
    ...(kind === 'texts' && { multiple: true }),
    ...(kind !== 'flag' && !isOptional(schema) && { required: true }),
    help: schema.description ?? '',
  };
}

const spelling = (input: z.ZodObject, member: string) =>
  spellingOf(member, input.shape[member] as z.ZodType);

/** Returns what the arguments and a source give, as the operation takes it: before a store is opened. Throws `UsageError`. */
function givenBy<I extends z.ZodObject>(
  operation: Operation<I>,
  input: Input,
  sourced: Sourced['given'] = {},
  from?: Sourced['from'],
): z.output<I> {
  const { operands: given, text, texts, flag } = input;
  const entries = Object.keys(operation.input.shape).flatMap(
    (member): [string, readonly string[]][] => {
      const place = operation.operands.indexOf(member);
      const { option } = spelling(operation.input, member);
      if (Object.hasOwn(sourced, member)) return [];
      if (place >= 0 && kindOf(operation.input.shape[member] as z.ZodType) === 'texts') {
        return [[member, given.slice(place)]];
      }
      if (place >= 0) return given[place] === undefined ? [] : [[member, [given[place]]]];
      if (!flag(option)) return [];
      return [[member, text(option) === undefined ? [''] : texts(option)]];
    },
  );
  try {
    const written = fromTexts(operation.input, new Map(entries));
    return readInput(operation, { ...written, ...sourced });
  } catch (error) {
    throw usageError(operation, error, from);
  }
}

/** Opens the stores for an operation, if the configuration does not refuse what is given. */
async function openFor<I extends z.ZodObject>(
  operation: Operation<I>,
  given: z.output<I>,
  shell: Shell,
  from?: Sourced['from'],
): Promise<House & AsyncDisposable> {
  const config = await loadConfig(shell.env);
  await inWords(operation, async () => operation.check?.(given, config), from);
  return openHouse(shell, config);
}

/** Runs an operation. Throws `UsageError` if the operation refuses its input. */
async function inWords<T>(
  operation: Operation,
  work: () => Promise<T>,
  from?: Sourced['from'],
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw usageError(operation, error, from);
  }
}

/** Returns a mistake in the words of the command line. */
function usageError(
  { input, operands }: Pick<Operation, 'input' | 'operands'>,
  error: unknown,
  from: Sourced['from'] = {},
): unknown {
  if (!(error instanceof InputError)) return error;
  const cause = error;
  const [member = ''] = error.path;
  if (Object.hasOwn(from, member)) return Failure.of(cause, `${from[member]} ${error.message}`);
  if (!Object.hasOwn(input.shape, member)) return new UsageError(error.message, { cause });
  const { option, value } = spelling(input, member);
  const given = operands.includes(member) ? value : `--${option}`;
  return new UsageError(`${given} ${error.message}`, { cause });
}
