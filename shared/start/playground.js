import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Clock } from '#shared/base/clock.ts' */

/**
 * The files that run the playground and its authorization server.
 * @typedef {{ readonly file: string, readonly authz: string }} PlaygroundFiles
 */

/**
 * @typedef {object} Surroundings
 * @property {NodeJS.ProcessEnv} env
 * @property {string[]} execArgv The options of Node for the process.
 * @property {Pick<Clock, 'now'>} clock
 * @property {(line: { level: 'error', server: string, event: string, reason: string }) => void} log
 */

/** Megabytes for long-lived objects in each of the playground's two processes. A visit needs a third of them. */
const HEAP = 128;
/** Milliseconds from the start of the process until it listens. */
const READY_WITHIN = 60_000;
/** Milliseconds that the playground has for its last requests when it ends. */
const LEFT_WITHIN = 20_000;
/** Milliseconds without a request after which the playground ends. */
const IDLE = 600_000;
/** Milliseconds after which the playground ends in any case, since each visit leaves rows in its store. */
const LONGEST = 86_400_000;
/** Milliseconds between two starts of the playground. */
const PAUSE = 5000;

/**
 * The process of the playground, which starts another one for its authorization server. The first request starts it,
 * and it ends when no request has come for ten minutes. Its store is in a temporary folder, which is removed when the
 * playground ends.
 */
export class Playground {
  #files;
  #surroundings;
  #idle;
  /** @type {Promise<number | undefined> | undefined} */
  #port;
  /** @type {Set<ChildProcess>} */
  #running = new Set();
  /** @type {Set<Promise<void>>} */
  #ends = new Set();
  #began = -Infinity;
  #listens = false;
  #ended = false;

  /**
   * @param {PlaygroundFiles} files
   * @param {Surroundings} surroundings
   * @param {number} idle
   */
  constructor(files, surroundings, idle = IDLE) {
    this.#files = files;
    this.#surroundings = surroundings;
    // The timer stops only a playground that already listens.
    this.#idle = setTimeout(() => this.#listens && this.#stop(), idle).unref();
  }

  /**
   * Resolves to the port of the playground, and starts it if it does not run. Undefined: it cannot start now.
   * @returns {Promise<number | undefined>}
   */
  async port() {
    if (this.#ended) return undefined;
    this.#idle.refresh();
    if (this.#port !== undefined) return this.#port;
    const now = this.#surroundings.clock.now();
    if (now - this.#began < PAUSE) return undefined;
    this.#began = now;
    /** @type {PromiseWithResolvers<number | undefined>} */
    const { promise, resolve } = Promise.withResolvers();
    this.#port = promise;
    const end = this.#run(resolve).catch(({ message }) => this.#log(message));
    this.#ends.add(end);
    void end.finally(() => {
      resolve(undefined);
      if (this.#port === promise) this.#port = undefined;
      this.#ends.delete(end);
    });
    return promise;
  }

  /** Resolves when all processes of the playground have ended. */
  async end() {
    this.#ended = true;
    clearTimeout(this.#idle);
    this.#stop();
    await Promise.all(this.#ends);
  }

  #stop() {
    this.#port = undefined;
    this.#listens = false;
    this.#began = -Infinity;
    for (const child of this.#running) {
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), LEFT_WITHIN).unref();
    }
  }

  /**
   * Starts the process of the playground, and resolves when it has ended.
   * @param {(port: number) => void} listens
   */
  async #run(listens) {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-playground-'));
    try {
      if (this.#ended) return;
      const { env, execArgv } = this.#surroundings;
      const child = fork(this.#files.file, [folder, this.#files.authz], {
        env,
        execArgv: [...execArgv, `--max-old-space-size=${HEAP}`],
        stdio: ['ignore', 2, 2, 'ipc'],
      });
      if (child.pid === undefined) throw (await once(child, 'error'))[0];
      child.on('error', () => {}); // the `exit` event still tells of the end
      this.#running.add(child);
      const late = setTimeout(() => child.kill('SIGKILL'), READY_WITHIN);
      const old = setTimeout(() => this.#stop(), LONGEST).unref();
      let reason = '';
      child.on('message', (content) => {
        const { ready, port, failed } = Object(content);
        if (typeof failed === 'string') reason = failed;
        if (ready !== true) return;
        clearTimeout(late);
        this.#listens = true;
        this.#idle.refresh();
        listens(port);
      });
      const [code, signal] = await once(child, 'exit');
      clearTimeout(late);
      clearTimeout(old);
      const told = this.#running.delete(child) && code !== 0 && signal !== 'SIGTERM';
      if (told) this.#log(reason || `${signal ?? `exit code ${code}`}`);
    } finally {
      // The authorization server of the playground may live a moment longer.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  }

  /** @param {string} reason */
  #log(reason) {
    this.#surroundings.log({
      level: 'error',
      server: 'playground',
      event: 'playground.ended',
      reason,
    });
  }
}
