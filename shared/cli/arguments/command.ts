import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';

/** An option of a command; without `value` it is a flag. */
export interface Option {
  /** The placeholder for its value in the help, for example `NAME`. */
  readonly value?: string;
  readonly required?: true;
  readonly multiple?: true;
  readonly help: string;
}

export interface Command {
  /** Its words, for example `client add`. */
  readonly name: string;
  readonly summary: string;
  /** It uses the stores of the servers: `opens` those that are there, `makes` them where they are missing. */
  readonly store?: 'opens' | 'makes';
  /** After a store that did not answer, the same command does what is missing, and says so. */
  readonly repeatable?: true;
  /** Names of the operands, in order; one in brackets may be left out, `[NAME...]` given often. */
  readonly operands?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** More about it for `--help`, in lines. */
  readonly details?: readonly string[];
  run(input: Input, shell: Shell): Promise<Report | LongReport>;
}

/** The arguments, checked against the operands and options of the command. */
export interface Input {
  readonly operands: readonly string[];
  /** The value of an option that is given at most once. */
  text(option: string): string | undefined;
  texts(option: string): readonly string[];
  flag(option: string): boolean;
}

/** The output of a command at its end. */
export interface Report {
  /** With `--json`, on one line. */
  readonly json: unknown;
  /** Otherwise, line by line. A getter if it may be long, as nobody asks for both. */
  readonly lines: readonly string[];
  /** Otherwise, instead of lines: bytes from elsewhere. */
  readonly content?: Buffer;
  readonly failed?: boolean;
}

/** The output of a command that may be too long for the memory: an array, slice by slice. */
export interface LongReport {
  readonly slices: AsyncIterable<OutputSlice>;
  /** With `--json`, each element is a line of its own, and there is no array: the output may go on for ever. */
  readonly apart?: true;
}

export interface OutputSlice {
  /** With `--json`, elements of the array. */
  readonly json: readonly unknown[];
  /** Otherwise. */
  readonly lines: readonly string[];
}

/** The surroundings of a command. */
export interface Shell {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly random: Random;
  /** The command makes the store when it opens it, if there is none; `first`: unless the database has another one. */
  readonly creates?: boolean | 'first';
  /** True: standard output is read by a person, not by a program. */
  readonly terminal: boolean;
  /** True: standard output or standard error is a terminal, so that somebody can be asked to approve. */
  readonly attended: boolean;
  /** Width of that terminal in characters; 0 when there is none. */
  readonly columns: number;
  /** Rejects if the signal aborts before. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /**
   * Returns a signal that aborts when the process is asked to end, which from then on ends with its command, or when
   * nobody reads standard output any more. Undefined: nobody asks.
   */
  ending?(): AbortSignal;
  /** Reads all of standard input. Rejects with `Failure` if it has more octets than `most`, or than any file may have. */
  readStdin(most?: number): Promise<Buffer>;
  out(content: string | Buffer): void;
  /** Writes a line to standard error, beside the report of the command. */
  note(line: string): void;
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command could not do what it was asked to: exit code 1. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** The message, line by line. A line feed within one came from elsewhere, and begins no line on a terminal. */
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }

  /** Returns the failure that a refusal of an operation is, in the words of the command. */
  static of(cause: Error, line: string): Failure {
    return Object.assign(new Failure(line), { cause });
  }
}
