import { fork } from 'node:child_process';

/** @import { EventEmitter } from 'node:events' */
/** @import { Clock } from '../base/clock.ts' */

/**
 * One of the two servers: how people call it, and the file that runs it.
 * @typedef {{ readonly name: string, readonly file: string }} Part
 */

/**
 * What a server tells its parent: when it listens, with the lines of the banner, if it has some; why it could not
 * start; or that the configuration, which is that of both, was refused. Texts are fit for a terminal.
 * @typedef {{ readonly ready?: unknown, readonly banner?: readonly string[] }} Ready
 * @typedef {Ready & { readonly failed?: string, readonly refused?: string }} Message
 */

/**
 * @typedef {object} Surroundings
 * @property {NodeJS.ProcessEnv} env
 * @property {Pick<Clock, 'now'>} clock
 * @property {Pick<EventEmitter, 'on'>} signals Where SIGINT and SIGTERM arrive.
 * @property {(lines: readonly string[]) => void} announce Called once, when all listen.
 * @property {(lines: string) => void} complain
 */

/** Signals that follow the first within this time repeat it: npm passes on what the terminal has sent already. */
const REPEATED = 1000;

/**
 * Runs the servers as child processes until a signal comes or one of them ends; then the others end
 * as well, with the requests in flight. A second signal kills. Resolves to the exit code.
 * @param {readonly Part[]} parts
 * @param {Surroundings} surroundings
 * @returns {Promise<number>}
 */
export async function runPair(parts, surroundings) {
  const running = parts.map((part) => startPart(part, surroundings.env));
  /** @param {NodeJS.Signals} signal */
  const kill = (signal) => running.forEach(({ child }) => child.kill(signal));
  const endings = running.map(({ ended }) => ended);
  void Promise.all(running.map((part) => part.banner)).then((all) =>
    surroundings.announce(all.flat()),
  );

  const cause = await Promise.race([...endings, stopSignal(surroundings, () => kill('SIGKILL'))]);
  if (cause !== undefined) surroundings.complain(cause);
  kill('SIGTERM');
  await Promise.all(endings);
  return cause === undefined && running.every(({ child }) => child.exitCode === 0) ? 0 : 1;
}

/**
 * A session of its own: Ctrl-C in the terminal reaches this process alone, which decides.
 * @param {Part} part
 * @param {NodeJS.ProcessEnv} env
 */
function startPart({ name, file }, env) {
  const child = fork(file, { env, stdio: ['ignore', 2, 2, 'ipc'], detached: true });
  /** @type {PromiseWithResolvers<readonly string[]>} */
  const { promise, resolve } = Promise.withResolvers();
  /** @type {Message} */
  let last = {};
  child.on('message', (content) => {
    last = Object(content);
    if (last.ready === true) resolve(last.banner ?? []);
  });
  /** @type {Promise<string>} */
  const ended = new Promise((end) => {
    child.once('error', (error) =>
      end(`The ${name} could not be started: ${error.message}. The other server ends as well.`),
    );
    child.once('exit', (code, signal) => {
      const reason = last.failed ?? signal ?? `exit code ${code}`;
      end(last.refused ?? `The ${name} has ended: ${reason}. The other server ends as well.`);
    });
  });
  return { child, banner: promise, ended };
}

/**
 * Resolves at the first signal; calls `again` at one that is not a repetition of it.
 * @param {Surroundings} surroundings
 * @param {() => void} again
 * @returns {Promise<undefined>}
 */
function stopSignal({ signals, clock }, again) {
  return new Promise((resolve) => {
    /** @type {number | undefined} */
    let first;
    const receive = () => {
      first ??= clock.now();
      if (clock.now() - first > REPEATED) again();
      resolve(undefined);
    };
    signals.on('SIGINT', receive);
    signals.on('SIGTERM', receive);
  });
}
