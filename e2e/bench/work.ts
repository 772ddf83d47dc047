import type { Contender, Schedule } from './measure.ts';
import type { StoreName } from './targets/stores.ts';

/** A contender with this many parallel connections, tunnels or people. */
export type Loaded = (atOnce: number) => Contender;

/** The servers that do the work. */
export interface Loads {
  /** The peers of the first way; each has a line of the table. */
  readonly beside: readonly Loaded[];
  /** Our servers by way; other ways are compared with the first. */
  readonly ways: Readonly<Partial<Record<Way, Loaded>>>;
}

/** The store, if not SQLite; the protocol, if not HTTP/1.1; the number of processes, if not one. */
export type Way = StoreName | 'HTTP/2' | 'TLS' | '2 workers';

/** The highest CPU time in microseconds, given the cost of the server beside. */
export type Goal = (beside: number) => number;

export const times =
  (factor: number): Goal =>
  (beside) =>
    beside * factor;

export const plus =
  (microseconds: number): Goal =>
  (beside) =>
    beside + microseconds;

/** A row of the whole table, as its room lists it. */
export interface Work<Targets> {
  readonly name: string;
  /**
   * The highest cost of the first way by its peers; and of other ways compared with the first, if the
   * general goal does not fit.
   */
  readonly goals?: Readonly<Record<string, Goal>>;
  /** Default: `AT_ONCE`. Slow works use fewer. */
  readonly atOnce?: number;
  /** A different schedule, if the general schedule does not fit. */
  readonly schedule?: Partial<Schedule>;
  loads(targets: Targets): Loads | Promise<Loads>;
}

export const AT_ONCE = 32;

/** A work whose servers run. */
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
