import { fork } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { z } from 'zod';
import type { Clock } from '#shared/base/clock.ts';

/** One of the two servers: how people call it, and the file that runs it. */
export interface Part {
  readonly name: string;
  readonly file: string;
}

const ready = z.object({
  ready: z.literal(true),
  url: z.string(),
  lines: z.array(z.string()).exactOptional(),
});
const message = z.union([ready, z.object({ failed: z.string() })]);

/**
 * What a server tells its parent when it listens: its public URL, and lines to print after its first
 * start. One that cannot start says `{ failed: reason }` and exits.
 */
export type Ready = z.infer<typeof ready>;

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Where SIGINT and SIGTERM arrive. */
  readonly signals: Pick<EventEmitter, 'on'>;
  /** Called once, when all listen. */
  announce(ready: readonly Ready[]): void;
  complain(line: string): void;
}

/** Signals that follow the first within this time repeat it: npm passes on what the terminal has sent already. */
const REPEATED = 1000;

/**
 * Runs the servers as child processes until a signal comes or one of them ends; then the others end
 * as well, with the requests in flight. A second signal kills. Resolves to the exit code.
 */
export async function runPair(parts: readonly Part[], surroundings: Surroundings): Promise<number> {
  const running = parts.map((part) => startPart(part, surroundings.env));
  const kill = (signal: NodeJS.Signals) => running.forEach(({ child }) => child.kill(signal));
  const endings = running.map(({ ended }) => ended);
  void Promise.all(running.map((part) => part.ready)).then((all) => surroundings.announce(all));

  const cause = await Promise.race([...endings, stopSignal(surroundings, () => kill('SIGKILL'))]);
  if (cause !== undefined) surroundings.complain(`${cause} The other server ends as well.`);
  kill('SIGTERM');
  await Promise.all(endings);
  return cause === undefined && running.every(({ child }) => child.exitCode === 0) ? 0 : 1;
}

/** A session of its own: Ctrl-C in the terminal reaches this process alone, which decides. */
function startPart({ name, file }: Part, env: NodeJS.ProcessEnv) {
  const child = fork(file, { env, stdio: ['ignore', 2, 2, 'ipc'], detached: true });
  const { promise, resolve } = Promise.withResolvers<Ready>();
  let failed: string | undefined;
  child.on('message', (content) => {
    const { data } = message.safeParse(content);
    if (data === undefined) return;
    if ('failed' in data) failed = data.failed;
    else resolve(data);
  });
  const ended = new Promise<string>((end) => {
    child.once('error', (error) => end(`The ${name} could not be started: ${error.message}.`));
    child.once('exit', (code, signal) =>
      end(`The ${name} has ended: ${failed ?? (signal === null ? `exit code ${code}` : signal)}.`),
    );
  });
  return { child, ready: promise, ended };
}

/** Resolves at the first signal; calls `again` at one that is not a repetition of it. */
function stopSignal({ signals, clock }: Surroundings, again: () => void): Promise<undefined> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const receive = () => {
      first ??= clock.now();
      if (clock.now() - first > REPEATED) again();
      resolve(undefined);
    };
    signals.on('SIGINT', receive);
    signals.on('SIGTERM', receive);
  });
}
