import { z } from 'zod';
import {
  type House,
  InputError,
  type Operation,
  readInput,
  type Told,
} from '#shared/operations/operation.ts';
import type { Page } from '#shared/operations/page.ts';
import { fromTexts, kindOf, spellingOf } from '#shared/operations/texts.ts';
import {
  type Command,
  type Input,
  type Option,
  type OutputSlice,
  type Shell,
  UsageError,
} from '../arguments/command.ts';
import { openHouse } from './with-people.ts';

/** The command line's own part of an operation. */
interface View<Output extends z.ZodType> {
  /** The output for people, line by line. */
  lines(output: Told<Output>): readonly string[];
  /** More about it for `--help`, in lines. */
  readonly details?: readonly string[];
}

/** Returns the command of an operation: its members are operands and options. */
export function commandOf<I extends z.ZodObject, O extends z.ZodType>(
  operation: Operation<I, O>,
  { lines, details }: View<O>,
): Command {
  return {
    ...shapeOf(operation),
    ...(details && { details }),
    run: async (input, shell) => {
      const given = givenBy(operation, input);
      await using house = await openHouse(shell);
      const json = await done(operation, given, house);
      return { json, lines: lines(json) };
    },
  };
}

/** A list of which a command prints every page. */
interface ListView<Output extends z.ZodType<Page>> {
  /** The lines of a page. `widths`: those of the columns of the pages before (`table`). */
  lines(items: Told<Output>['items'], widths: number[]): readonly string[];
  /** The line that says that there is nothing. */
  readonly nothing: string;
  readonly details?: readonly string[];
}

/** Returns the command of a list, which prints all its pages: its output is the array of their items. */
export function listCommandOf<I extends z.ZodObject, O extends z.ZodType<Page>>(
  operation: Operation<I, O>,
  { lines, nothing, details }: ListView<O>,
): Command {
  async function* pages(input: Input, shell: Shell): AsyncGenerator<OutputSlice> {
    const given = givenBy(operation, input);
    await using house = await openHouse(shell);
    const widths: number[] = [];
    let after: string | undefined;
    do {
      const { items, next } = await done(operation, { ...given, after }, house);
      if (after === undefined && items.length === 0) yield { json: [], lines: [nothing] };
      else yield { json: items, lines: lines(items, widths) };
      after = next;
    } while (after !== undefined);
  }
  return {
    ...shapeOf(operation, PAGING),
    ...(details && { details }),
    run: async (input, shell) => ({ slices: pages(input, shell) }),
  };
}

/** The members of a list that its command fills in itself. */
const PAGING: ReadonlySet<string> = new Set(['after', 'limit']);

/** Returns what a command takes for an operation. */
function shapeOf(
  { name, summary, input, operands }: Operation,
  without: ReadonlySet<string> = new Set(),
): Omit<Command, 'run'> {
  const isOperand = new Set<string>(operands);
  const options = Object.entries(input.shape).filter(
    ([member]) => !isOperand.has(member) && !without.has(member),
  );
  return {
    name,
    summary,
    store: 'opens',
    operands: operands.map((member) => spelling(input, member).value),
    options: Object.fromEntries(
      options.map(([member, schema]) => [
        spelling(input, member).option,
        optionOf(member, schema as z.ZodType),
      ]),
    ),
  };
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

/** Whether an object may lack a member of this schema. */
const isOptional = (schema: z.ZodType) => z.object({ member: schema }).safeParse({}).success;

const spelling = (input: z.ZodObject, member: string) =>
  spellingOf(member, input.shape[member] as z.ZodType);

/** Returns what the arguments give, as the operation takes it: before a store is opened. Throws `UsageError`. */
function givenBy<I extends z.ZodObject>(operation: Operation<I>, input: Input): z.output<I> {
  const { operands: given, text, texts, flag } = input;
  const entries = Object.keys(operation.input.shape).flatMap(
    (member): [string, readonly string[]][] => {
      const place = operation.operands.indexOf(member);
      const { option } = spelling(operation.input, member);
      if (place >= 0) return given[place] === undefined ? [] : [[member, [given[place]]]];
      if (!flag(option)) return [];
      return [[member, text(option) === undefined ? [''] : texts(option)]];
    },
  );
  try {
    return readInput(operation, fromTexts(operation.input, new Map(entries)));
  } catch (error) {
    throw usageError(operation, error);
  }
}

/** Does the operation. Throws `UsageError` for what it does not take. */
async function done<I extends z.ZodObject, O extends z.ZodType>(
  operation: Operation<I, O>,
  given: z.output<I>,
  house: House,
): Promise<Told<O>> {
  try {
    return await operation.run(given, house);
  } catch (error) {
    throw usageError(operation, error);
  }
}

/** Returns a mistake in the words of the command line. */
function usageError(
  { input, operands }: Pick<Operation, 'input' | 'operands'>,
  error: unknown,
): unknown {
  if (!(error instanceof InputError)) return error;
  const [member = ''] = error.path;
  if (!Object.hasOwn(input.shape, member)) return new UsageError(error.message);
  const { option, value } = spelling(input, member);
  return new UsageError(`${operands.includes(member) ? value : `--${option}`} ${error.message}`);
}
