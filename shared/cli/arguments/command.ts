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
  /** The words of the command, for example `client add`. */
  readonly name: string;
  readonly summary: string;
  /** The command uses the servers' stores: `opens` existing ones, or `makes` them if they are missing. */
  readonly store?: 'opens' | 'makes';
  /**
   * If the store stopped answering, the error says that the user can repeat the command, which then completes the work.
   */
  readonly repeatable?: true;
  /** Names of the operands, in order; one in brackets may be left out, `[NAME...]` given often. */
  readonly operands?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** Further lines for `--help`. */
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
  /** The output with `--json`, on one line. */
  readonly json: unknown;
  /** The output without `--json`, line by line. It is a getter if it may be long, since only one form is printed. */
  readonly lines: readonly string[];
  /** Output without `--json`, in place of `lines`: bytes that another server sent. */
  readonly content?: Buffer;
  readonly failed?: boolean;
}

/** The output of a command that may not fit into memory: an array, slice by slice. */
export interface LongReport {
  readonly slices: AsyncIterable<OutputSlice>;
  /**
   * With `--json` each element is printed on a line of its own, without an array around them, since the output may
   * never end.
   */
  readonly apart?: true;
}

export interface OutputSlice {
  /** With `--json`, elements of the array. */
  readonly json: readonly unknown[];
  /** Lines of the output without `--json`. */
  readonly lines: readonly string[];
}

/** The surroundings of a command. */
export interface Shell {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether the command creates a missing store when it opens it. `first`: only if the database has no other store. */
  readonly creates?: boolean | 'first';
  /** Whether a person reads standard output, not a program. */
  readonly terminal: boolean;
  /** Whether standard output or standard error is a terminal, so that a person can be asked to approve something. */
  readonly attended: boolean;
  /** Width of the terminal in characters; 0 if there is no terminal. */
  readonly columns: number;
  /** Rejects if the signal aborts before. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /**
   * Returns a signal that aborts when the process gets SIGINT, SIGTERM or SIGHUP, or when standard output is closed.
   * From then on the process ends together with its command. Undefined: there are no such signals.
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

/** The command failed: exit code 1. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** The message, line by line. A line feed within a line came from outside, and is escaped on a terminal. */
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }

  /** Returns the failure for an operation that was refused. `line`: the message in the words of the command. */
  static of(cause: Error, line: string): Failure {
    return Object.assign(new Failure(line), { cause });
  }
}
