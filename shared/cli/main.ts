import { setTimeout } from 'node:timers/promises';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { boundedContent, LONGEST_INPUT, STDIN } from './arguments/bounded-file.ts';
import { COMMANDS } from './commands.ts';
import { run } from './run.ts';

const ending = new AbortController();
const end = () => ending.abort();

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  end();
});

process.exitCode = await run(process.argv.slice(2), COMMANDS, {
  env: process.env,
  clock: systemClock,
  random: systemRandom,
  terminal: process.stdout.isTTY,
  attended: process.stdout.isTTY || process.stderr.isTTY,
  columns: process.stdout.isTTY ? process.stdout.columns : 0,
  wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }),
  ending: () => {
    // One Ctrl-C may arrive as two signals: from the terminal, and from npm or the launcher.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
    return ending.signal;
  },
  readStdin: (most = LONGEST_INPUT) => boundedContent(STDIN, process.stdin, most),
  out: (content) => void process.stdout.write(content),
  note: (line) => void process.stderr.write(`${line}\n`),
});
