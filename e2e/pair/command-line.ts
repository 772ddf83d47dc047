import { setTimeout } from 'node:timers/promises';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Ended } from '#shared/cli/cli.fixture.ts';

export interface Around {
  readonly stdin?: string;
  /** Gets the output of both streams as it comes. */
  readonly hear?: (text: string) => void;
}

/**
 * Runs a command of the command line in this process, on the store that the environment names: a process
 * for each costs most of a second.
 */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { stdin = '', hear = () => {} }: Around = {},
): Promise<Ended> {
  // Not every flow needs it.
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

/** Resolves to what `--json` printed; rejects with what the command complained of. */
export async function commandLine(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin = '',
): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], env, { stdin });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}
