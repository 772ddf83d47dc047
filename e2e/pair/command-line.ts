import { setTimeout } from 'node:timers/promises';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Ended } from '#shared/cli/cli.fixture.ts';

export interface Around {
  readonly stdin?: string;
  /** Receives the output of standard output and standard error as it arrives. */
  readonly hear?: (text: string) => void;
}

/**
 * Runs a command in this process, on the store of the environment, because a process per command takes most
 * of a second.
 */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { stdin = '', hear = () => {} }: Around = {},
): Promise<Ended> {
  // Loaded on demand, because not every flow needs the command line.
  const [{ run }, { COMMANDS }] = await Promise.all([
    import('#shared/cli/run.ts'),
    import('#shared/cli/commands.ts'),
  ]);
  let [stdout, stderr] = ['', ''];
  const code = await run(args, COMMANDS, {
    env,
    clock: systemClock,
    random: systemRandom,
    terminal: false,
    attended: false,
    columns: 0,
    wait: (milliseconds) => setTimeout(milliseconds),
    readStdin: async () => Buffer.from(stdin),
    out: (content) => {
      stdout += content.toString();
      hear(content.toString());
    },
    note: (line) => {
      stderr += `${line}\n`;
      hear(`${line}\n`);
    },
  });
  return { code, stdout, stderr };
}

/** Resolves to the output of `--json`; rejects with the command's error message. */
export async function commandLine(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin = '',
): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], env, { stdin });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}
