/** Runs third-party programs in a HOME folder of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface ProgramOptions {
  /** HOME and working folder, so that the machine's own settings are neither read nor changed. */
  readonly home: string;
  /** Standard input; default: none. */
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Ended {
  /** Null if the program was stopped because it took too long. */
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Milliseconds: shortly before Jest stops the test, so that no program is left. */
const PATIENCE = 170_000;

/** Runs a program to its end. A failure does not reject. */
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
  child.stdin.on('error', () => undefined); // the program may end without reading
  child.stdin.end(input);
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: child.exitCode, output, errors };
}

/** Runs a program that must succeed; rejects with its output otherwise. */
export async function succeed(
  command: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<string> {
  const { code, output, errors } = await program(command, args, options);
  if (code === 0) return output;
  throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}${errors}`);
}
