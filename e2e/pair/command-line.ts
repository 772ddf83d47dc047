import { setTimeout } from 'node:timers/promises';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';

/**
 * Runs a command of the command line in this process, on the store that the environment names: a process
 * for each costs most of a second. Resolves to what `--json` printed; rejects with what the
 * command complained of.
 */
export async function commandLine(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin = '',
): Promise<Record<string, unknown>> {
  // Not every flow needs it.
  const [{ run }, { COMMANDS }] = await Promise.all([
    import('#shared/cli/run.ts'),
    import('#shared/cli/commands.ts'),
  ]);
  let [out, notes] = ['', ''];
  const code = await run([...args, '--json'], COMMANDS, {
    env,
    clock: systemClock,
    random: systemRandom,
    terminal: false,
    columns: 0,
    wait: (milliseconds) => setTimeout(milliseconds),
    readStdin: async () => Buffer.from(stdin),
    out: (content) => (out += content.toString()),
    note: (line) => (notes += `${line}\n`),
  });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${notes}`);
  return JSON.parse(out) as Record<string, unknown>;
}
