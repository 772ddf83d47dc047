import type * as z from 'zod';
import type { Recorder } from '#shared/audit/recorder.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { DocumentNetwork } from '#shared/client-documents/fetch-document.ts';
import type { Config } from '#shared/config/schema.ts';
import { faultOf, withWords } from '#shared/refusals/fault.ts';
import { Refused, said } from '#shared/refusals/operations.ts';
import { about, type Words } from '#shared/refusals/words.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** The parts that operations work on. */
export interface House extends PeopleStore {
  readonly stores: Stores;
  readonly config: Config;
  /** Resolves to the master secret, 32 bytes. */
  masterSecret(): Promise<Buffer>;
  /** The network by which the descriptions of clients are fetched. */
  readonly documentNetwork: DocumentNetwork;
  /** Records what is changed as the doing of whoever asked for it. */
  readonly recorder: Recorder;
}

/**
 * A thing that an operator does, by the command line, over HTTP or on a page. Those three are views of it: what it takes,
 * and every rule of it, stands here once.
 */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> {
  /** Its words, such as `user disable`: those of its command. Over HTTP a dash joins them. */
  readonly name: string;
  /** Its meaning in one line, for the help and for the document of the HTTP interface. */
  readonly summary: string;
  /** An operation that reads takes GET and the scope `admin:read`; one that changes takes POST and `admin`. */
  readonly effect: 'reads' | 'changes';
  /** After a store that did not answer, or a crash, the same once more does what is missing. */
  readonly repeatable?: true;
  /** The members that it takes, each with its meaning as description. */
  readonly input: Input;
  /** The members that a command line takes by place, not by the name of an option, in this order. */
  readonly operands: readonly (keyof z.output<Input> & string)[];
  /**
   * The members each of which names one part, where the operation is else on the whole. One that is empty is a mistake, and
   * never the whole.
   */
  readonly parts?: readonly (keyof z.output<Input> & string)[];
  /** The members that it gives. */
  readonly output: Output;
  /** Refuses, with an error as `run` does, what needs no store to be refused: the command line makes none for it. */
  check?(input: z.output<Input>, config: Config): Awaitable<void>;
  /** Throws `InputError`, `Missing`, `Conflict` or `PeopleError` if it cannot be done; the message says what to do. */
  run(input: z.output<Input>, house: House): Promise<Told<Output>>;
}

/** The result of an operation, which nobody changes. */
export type Told<Output extends z.ZodType> = DeepReadonly<z.output<Output>>;

type DeepReadonly<T> = T extends object
  ? { readonly [Member in keyof T]: DeepReadonly<T[Member]> }
  : T;

/** Returns the same operation, with the types of its schemas. */
export const operation = <Input extends z.ZodObject, Output extends z.ZodType>(
  made: Operation<Input, Output>,
): Operation<Input, Output> => made;

/**
 * Thrown if something that was given is not what an operation takes. The message goes on after the name of the member, or
 * says it all where the path is empty.
 */
export class InputError extends Refused {
  override readonly name = 'InputError';
  /** Members and indexes that lead to what is wrong; empty: the whole. */
  readonly path: readonly string[];

  constructor(path: readonly string[], words: Words) {
    super(words);
    this.path = path;
  }
}

/** Thrown if there is nothing by the name or id that was given. */
export class Missing extends Refused {
  override readonly name = 'Missing';
}

/** Thrown if what is there stands against the change. */
export class Conflict extends Refused {
  override readonly name = 'Conflict';
}

/** Returns what was given as the operation takes it. Throws `InputError`. */
export function readInput<Input extends z.ZodObject>(
  { input }: Pick<Operation<Input>, 'input'>,
  given: unknown,
): z.output<Input> {
  const read = input.safeParse(given, { error: inWords });
  if (!read.success) throw inputError(read.error);
  return read.data;
}

/** Does an operation with what was given by whoever may do it. Throws what `run` throws, and `InputError`. */
export async function perform<Input extends z.ZodObject, Output extends z.ZodType>(
  wanted: Operation<Input, Output>,
  given: unknown,
  house: House,
): Promise<Told<Output>> {
  const input = readInput(wanted, given);
  await wanted.check?.(input, house.config);
  return wanted.run(input, house);
}

/** Says what a member must be where its schema does not. The issue carries the words. */
const inWords: z.core.$ZodErrorMap = (issue) => withWords(wordsOf(issue))(issue);

function wordsOf(issue: z.core.$ZodRawIssue): Words {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined ? said('missing') : said('type', { type: issue.expected });
  }
  if (issue.code === 'invalid_value') return said('choice', { names: issue.values.join(', ') });
  if (issue.code === 'unrecognized_keys') return said('unknown-member');
  if (issue.code === 'too_big') {
    const code = TOO_BIG[issue.origin] ?? 'too-large';
    return said(code, { most: String(issue.maximum) });
  }
  if (issue.code === 'too_small') {
    const code = issue.origin === 'array' ? 'too-few' : 'too-small';
    return said(code, { least: String(issue.minimum) });
  }
  return said('other', { issue: issue.code });
}

const TOO_BIG: Readonly<Record<string, 'too-long' | 'too-many'>> = {
  string: 'too-long',
  array: 'too-many',
};

/** Tells the first mistake that a schema found. */
function inputError({ issues: [issue] }: z.ZodError): InputError {
  if (issue === undefined) throw new Error('a schema refuses, and finds no mistake');
  const path = [
    ...issue.path,
    ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []),
  ];
  const words = faultOf(issue);
  return new InputError(path.map(String), path.length === 0 ? about('the content', words) : words);
}
