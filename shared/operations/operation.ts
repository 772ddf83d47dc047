import type * as z from 'zod';
import type { Recorder } from '#shared/audit/recorder.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { DocumentNetwork } from '#shared/client-documents/fetch-document.ts';
import type { Config } from '#shared/config/schema.ts';
import { faultOf, inWords } from '#shared/refusals/fault.ts';
import { Refused } from '#shared/refusals/operations.ts';
import { about, type Words } from '#shared/refusals/words.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** The parts that operations use. */
export interface House extends PeopleStore {
  readonly stores: Stores;
  readonly config: Config;
  /** Resolves to the master secret, 32 bytes. */
  masterSecret(): Promise<Buffer>;
  /** The network over which documents of clients are fetched. */
  readonly documentNetwork: DocumentNetwork;
  /** Shows how far a long operation is. Absent: nobody waits at a terminal. */
  readonly tell?: (progress: string) => void;
  /** Records changes, with the operator that asked for them as the actor. */
  readonly recorder: Recorder;
}

/**
 * An operation of operators, at the command line, over HTTP or on a page. These three are views of it: its input and
 * all its rules are here once.
 */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> {
  /** The words of its command, such as `user disable`. Over HTTP a dash joins them. */
  readonly name: string;
  /** Its meaning in one line, for the help and for the description of the HTTP interface. */
  readonly summary: string;
  /**
   * Whether the operation reads or changes data. Reading uses GET and the scope `admin:read`; changing uses POST and
   * `admin`.
   */
  readonly effect: 'reads' | 'changes';
  /** True if repeating the operation after a crash, or a store that did not answer, completes it. */
  readonly repeatable?: true;
  /** The members of its input, each with its meaning as description. */
  readonly input: Input;
  /** The members that the command line reads by position instead of an option name, in this order. */
  readonly operands: readonly (keyof z.output<Input> & string)[];
  /**
   * Members that each select one part; without them the operation affects the whole. An empty value is a mistake, and
   * never means the whole.
   */
  readonly parts?: readonly (keyof z.output<Input> & string)[];
  /** The members of its result. */
  readonly output: Output;
  /**
   * Refuses input for which no store is needed, with an error as in `run`: the command line then creates no store.
   */
  check?(input: z.output<Input>, config: Config): Awaitable<void>;
  /**
   * Performs the operation. Throws `InputError`, `Missing`, `Conflict` or `PeopleError` if it cannot; the message
   * says what to do.
   */
  run(input: z.output<Input>, house: House): Promise<Told<Output>>;
}

/** The read-only result of an operation. */
export type Told<Output extends z.ZodType> = DeepReadonly<z.output<Output>>;

type DeepReadonly<T> = T extends object
  ? { readonly [Member in keyof T]: DeepReadonly<T[Member]> }
  : T;

/** Returns the same operation, with the types of its schemas. */
export const operation = <Input extends z.ZodObject, Output extends z.ZodType>(
  made: Operation<Input, Output>,
): Operation<Input, Output> => made;

/**
 * Thrown if the input has a mistake. The message follows the name of the member, or is complete if the path is empty.
 */
export class InputError extends Refused {
  override readonly name = 'InputError';
  /** Members and indexes that lead to the mistake; empty for the input as a whole. */
  readonly path: readonly string[];

  constructor(path: readonly string[], words: Words) {
    super(words);
    this.path = path;
  }
}

/** Thrown if nothing has the given name or id. */
export class Missing extends Refused {
  override readonly name = 'Missing';
}

/** Thrown if present data prevents the change. */
export class Conflict extends Refused {
  override readonly name = 'Conflict';
}

/** Returns the input in the operation's form. Throws `InputError`. */
export function readInput<Input extends z.ZodObject>(
  { input }: Pick<Operation<Input>, 'input'>,
  given: unknown,
): z.output<Input> {
  const read = input.safeParse(given, { error: inWords });
  if (!read.success) throw inputError(read.error);
  return read.data;
}

/** Performs an operation with input of an authorized caller. Throws the errors of `run`, and `InputError`. */
export async function perform<Input extends z.ZodObject, Output extends z.ZodType>(
  wanted: Operation<Input, Output>,
  given: unknown,
  house: House,
): Promise<Told<Output>> {
  const input = readInput(wanted, given);
  await wanted.check?.(input, house.config);
  return wanted.run(input, house);
}

/** Returns the error for the first mistake that a schema found. */
function inputError({ issues: [issue] }: z.ZodError): InputError {
  if (issue === undefined) throw new Error('a schema refuses, and finds no mistake');
  const path = [
    ...issue.path,
    ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []),
  ];
  const words = faultOf(issue);
  return new InputError(path.map(String), path.length === 0 ? about('the content', words) : words);
}
