import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { startProcess } from '../parts/process.ts';
import { family } from './processes.ts';

/** One CPU for whoever sends, another for the servers, so that neither takes time from the other. */
export const LOAD_CPU = 0;
const SERVER_CPU = 1;

/** Clock ticks of /proc, by the kernel's interface to user space (proc(5), times(2)). */
export const TICKS_PER_SECOND = 100;

/** From here on this process, and what it starts, runs on these CPUs, such as `0` or `0,1`. */
export function stayOn(cpus: string): void {
  execFileSync('taskset', ['-apc', cpus, `${process.pid}`]);
}

/** A server that is measured. */
export interface Server extends AsyncDisposable {
  /** Its origin. */
  readonly url: string;
  /** Its processes; what they start belongs to them. */
  readonly pids: readonly number[];
  /** That share its requests, each of which compiles for itself; default 1. */
  readonly workers?: number;
  /** It is no program of Node, and so is warm at once. */
  readonly native?: boolean;
  /** The processes of the store that it uses, whose CPU time is told beside its own. */
  readonly store?: readonly number[];
  /** In PEM: vouches for it over TLS. */
  readonly ca?: Buffer;
}

export interface ServerOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** File that takes its standard error. */
  readonly log: string;
  /** Its origin, which answers with any status once it serves. */
  readonly url: string;
  /** Ends it; default SIGKILL. */
  readonly signal?: NodeJS.Signals;
  /** Default: that of the servers. */
  readonly cpu?: number;
}

/** Milliseconds until it has to answer. */
const PATIENCE = 120_000;
/** So many of the last letters are told of why it does not. */
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

/** CPU time of processes and their children, also of those that have ended, in microseconds. */
export function cpuTime(...pids: readonly number[]): number {
  const used = pids.flatMap(family).map((pid) => ticks(readFileSync(`/proc/${pid}/stat`, 'utf8')));
  return used.reduce((sum, some) => sum + some * (1_000_000 / TICKS_PER_SECOND), 0);
}

/** utime, stime, cutime and cstime (proc(5)); the name before them may hold spaces and parentheses. */
export function ticks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}
