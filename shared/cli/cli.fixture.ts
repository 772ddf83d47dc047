import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { entryFile } from '../../e2e/parts/entry.ts';
import type { Shell } from './arguments/command.ts';
import { COMMANDS } from './commands.ts';
import { run } from './run.ts';
import { withStores } from './stores/with-stores.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script as a child process. */
export async function runScript(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin = '',
): Promise<Ended> {
  const child = spawn(process.execPath, args, { env, stdio: 'pipe' });
  child.stdin.end(stdin);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

/** Creates a new data folder, and resolves to the environment that names it. */
export async function newData(): Promise<{ COUNTERSIGN_DATA: string }> {
  return { COUNTERSIGN_DATA: await storeFolder() };
}

/** As `newData`, but no authorization server has used the store, so it has no epoch. */
export async function unusedData(): Promise<{ COUNTERSIGN_DATA: string }> {
  const env = { COUNTERSIGN_DATA: await temporaryFolder() };
  const { clock, random } = new TestShell(env);
  await withStores({ env, clock, random, creates: true }, async () => {});
  return env;
}

/** Runs the command line as a child process. */
export async function cli(args: readonly string[], env: NodeJS.ProcessEnv, stdin?: string) {
  return runScript([entryFile('shared/cli/main.ts'), ...args], env, stdin);
}

export class TestShell implements Shell {
  readonly env: NodeJS.ProcessEnv;
  readonly clock = new ManualClock();
  readonly random = systemRandom;
  terminal = false;
  attended = true;
  columns = 0;
  stdin = '';
  stdout = '';
  stderr = '';

  constructor(env: NodeJS.ProcessEnv = {}) {
    this.env = env;
  }

  /** Waits by the test's clock, and takes no real time. */
  wait = async (milliseconds: number): Promise<void> => {
    this.clock.advance(milliseconds / 1000);
    await setImmediate();
  };

  readStdin = async (): Promise<Buffer> => Buffer.from(this.stdin);

  out = (content: string | Buffer): void => {
    this.stdout += content.toString();
  };

  note = (line: string): void => {
    this.stderr += `${line}\n`;
  };
}

/** Runs the command line in this process, with a clock that the test moves. */
export async function inProcess(shell: TestShell, ...args: readonly string[]): Promise<Ended> {
  shell.stdout = '';
  shell.stderr = '';
  const code = await run(args, COMMANDS, shell);
  return { code, stdout: shell.stdout, stderr: shell.stderr };
}

/** Runs a command with `--json`, and returns its result. Throws if the command failed. */
export async function json(shell: TestShell, ...args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await inProcess(shell, ...args, '--json');
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}
