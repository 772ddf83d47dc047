import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { startProcess } from '../parts/process.ts';
import { family } from './processes.ts';

/** One CPU for the load generator and another for the servers, so that neither slows the other. */
export const LOAD_CPU = 0;
const SERVER_CPU = 1;

/** Clock ticks per second of /proc, a constant of the kernel's interface (proc(5), times(2)). */
export const TICKS_PER_SECOND = 100;

/** Binds this process and its later children to these CPUs, such as `0` or `0,1`. */
export function stayOn(cpus: string): void {
  execFileSync('taskset', ['-apc', cpus, `${process.pid}`]);
}

/** A server that is measured. */
export interface Server extends AsyncDisposable {
  /** The origin of the server. */
  readonly url: string;
  /** The server's processes. Child processes are included. */
  readonly pids: readonly number[];
  /**
   * The number of processes that share the requests, each of which compiles the code itself; default: 1.
   */
  readonly workers?: number;
  /** A program without Node, which needs no warm-up. */
  readonly native?: boolean;
  /** The processes of the server's store, whose CPU time is shown separately. */
  readonly store?: readonly number[];
  /** The CA certificate for TLS, in PEM. */
  readonly ca?: Buffer;
}

export interface ServerOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** The file for the standard error. */
  readonly log: string;
  /** The origin, which answers with any status once the server is ready. */
  readonly url: string;
  /** The signal that ends the server; default: SIGKILL. */
  readonly signal?: NodeJS.Signals;
  /** Default: the servers' CPU. */
  readonly cpu?: number;
}

/** Milliseconds within which the server must answer. */
const PATIENCE = 120_000;
/** The number of characters of the log that an error message quotes. */
const LAST = 200;

/** Starts a server on a CPU; resolves when it answers. */
export async function startServer(
  command: string,
  args: readonly string[],
  { env, log, url, signal, cpu = SERVER_CPU }: ServerOptions,
): Promise<Server> {
  const line = `exec taskset -c ${cpu} "$@" 2>>"$0"`;
  const started = await startProcess('sh', ['-c', line, log, command, ...args], {
    ...(env && { env }),
    ready: async () => (await fetch(url)).status > 0,
    patience: PATIENCE,
  }).catch((error: unknown) => {
    const said = readFileSync(log, 'utf8').trim().slice(-LAST);
    throw new Error(`${[command, ...args].join(' ').slice(-LAST)} does not start: ${said}`, {
      cause: error,
    });
  });
  return {
    url,
    pids: [Number(started.pid)],
    native: command !== process.execPath,
    [Symbol.asyncDispose]: () => started.kill(signal),
  };
}

/** The CPU time of processes and their children, even of ended children, in microseconds. */
export function cpuTime(...pids: readonly number[]): number {
  const used = pids.flatMap(family).map((pid) => ticks(readFileSync(`/proc/${pid}/stat`, 'utf8')));
  return used.reduce((sum, some) => sum + some * (1_000_000 / TICKS_PER_SECOND), 0);
}

/**
 * The sum of utime, stime, cutime and cstime (proc(5)). The process name before them may contain spaces and
 * parentheses.
 */
export function ticks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}
