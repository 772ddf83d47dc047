/** Programs that others wrote, in a home of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface ProgramOptions {
  /** HOME and working folder: nothing of the machine's own settings is read or changed. */
  readonly home: string;
  /** Standard input; default: none. */
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Ended {
  /** Null when it was ended because it took too long. */
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

const PATIENCE = 90_000;

/** Runs a program to its end, in whatever way it ends. */
export async function program(
  command: string,
  args: readonly string[],
  { home, input = '', env }: ProgramOptions,
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd: home,
    env: {
      PATH: `${process.env['PATH']}:/usr/sbin:/sbin`,
      HOME: home,
      LC_ALL: 'C.UTF-8',
      TERM: 'dumb',
      ...env,
    },
    stdio: 'pipe',
    timeout: PATIENCE,
    killSignal: 'SIGKILL',
  });
  child.stdin.on('error', () => undefined); // it may end without reading
  child.stdin.end(input);
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: child.exitCode, output, errors };
}

/** The same, of which the exit code must be 0; rejects with what it printed otherwise. */
export async function succeed(
  command: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<string> {
  const { code, output, errors } = await program(command, args, options);
  if (code === 0) return output;
  throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}${errors}`);
}
