import type { Contender, Schedule } from './measure.ts';
import type { StoreName } from './targets/stores.ts';

/** A contender on so many connections, tunnels or people at a time. */
export type Loaded = (atOnce: number) => Contender;

/** The servers that do the work. */
export interface Loads {
  /** The servers that the first way is compared with; each has a line of the table. */
  readonly beside: readonly Loaded[];
  /** Ours by the way it is asked; the others are compared with the first. */
  readonly ways: Readonly<Partial<Record<Way, Loaded>>>;
}

/** On which store, if not SQLite; over what, if not HTTP/1.1; by how many processes, if not by one. */
export type Way = StoreName | 'HTTP/2' | 'TLS' | '2 workers';

/** Microseconds of CPU time that something may cost, beside what costs so many. */
export type Goal = (beside: number) => number;

export const times =
  (factor: number): Goal =>
  (beside) =>
    beside * factor;

export const plus =
  (microseconds: number): Goal =>
  (beside) =>
    beside + microseconds;

/** A row of the whole table, as it stands in the list of its room. */
export interface Work<Targets> {
  readonly name: string;
  /**
   * The highest cost of the first way, by the server that it stands beside; and of other ways beside the first, where
   * that of all does not fit.
   */
  readonly goals?: Readonly<Record<string, Goal>>;
  /** Default: `AT_ONCE`; fewer of what takes milliseconds. */
  readonly atOnce?: number;
  /** Where that of all does not fit. */
  readonly schedule?: Partial<Schedule>;
  loads(targets: Targets): Loads | Promise<Loads>;
}

export const AT_ONCE = 32;

/** A work whose targets run. */
export interface Opened extends Omit<Work<never>, 'loads'> {
  loads(): Promise<Loads>;
}

/** Works that share servers. */
export interface Room {
  readonly names: readonly string[];
  /** Starts the servers; the stack ends them. */
  open(stack: AsyncDisposableStack): Promise<readonly Opened[]>;
}

export function room<Targets>(
  start: (stack: AsyncDisposableStack) => Promise<Targets>,
  works: readonly Work<Targets>[],
): Room {
  return {
    names: works.map(({ name }) => name),
    async open(stack) {
      const targets = await start(stack);
      return works.map((work) => ({ ...work, loads: async () => work.loads(targets) }));
    },
  };
}
