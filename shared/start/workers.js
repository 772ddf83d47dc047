import cluster from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Counts } from '#shared/base/counts.js';
import { cores } from './options.js';
import { Playground } from './playground.js';
import { Reports } from './reports.js';

/** @import { Worker } from 'node:cluster' */
/** @import { EventEmitter } from 'node:events' */
/** @import { Clock } from '#shared/base/clock.ts' */
/** @import { Share } from '#shared/base/counts.js' */
/** @import { MetricsAddress } from '#shared/server/metrics/listener.js' */
/** @import { Report } from '#shared/server/metrics/report.js' */
/** @import { PlaygroundFiles } from './playground.js' */

/**
 * One of the two servers: its name for people and in the log, the file that runs it, and the files of its playground.
 * @typedef {{ readonly name: string, readonly log: string, readonly file: string, readonly playground?: PlaygroundFiles }} Part
 */

/**
 * A message from a worker to its parent. `ready`: it listens; with the lines of the banner, and the address where the
 * parent answers scrapes. `failed`: why it could not start. `refused`: why the configuration of both servers was
 * refused. `production`: it ends, since production has several workers by default. Texts are safe for a terminal.
 * @typedef {object} State
 * @property {unknown} [ready]
 * @property {readonly string[]} [banner]
 * @property {MetricsAddress} [metrics]
 * @property {string} [failed]
 * @property {string} [refused]
 * @property {boolean} [production]
 */

/**
 * The shares of a limit that a worker asks for (`take`: the number of the question) or returns.
 * @typedef {{ readonly take?: number, readonly shares: readonly Share[] }} Reckoning
 */

/**
 * A log line without its time.
 * @typedef {object} LogLine
 * @property {'info' | 'error'} level
 * @property {string} server
 * @property {string} event
 * @property {number} [worker]
 * @property {string} [reason]
 */

/**
 * @typedef {object} Surroundings
 * @property {NodeJS.ProcessEnv} env Variables for the servers in addition to the environment of this process.
 * @property {string[]} execArgv The options of Node for the servers.
 * @property {Pick<Clock, 'now'>} clock
 * @property {Pick<EventEmitter, 'on'>} signals Where SIGINT, SIGTERM and SIGHUP arrive.
 * @property {(lines: readonly string[]) => void} announce Called once, when all servers listen.
 * @property {(lines: string) => void} complain
 * @property {(line: LogLine) => void} log
 * @property {boolean} terminal Whether a person started the servers at a terminal. SIGHUP then means its end.
 */

/**
 * A worker from its start to its end. `ready` resolves when it listens at `addresses`. `ended` resolves to its last
 * message and the reason of its end.
 * @typedef {object} Life
 * @property {Worker} worker
 * @property {Promise<void>} ready
 * @property {ReadonlySet<string>} addresses
 * @property {Promise<State & { readonly reason: string }>} ended
 */

/** Milliseconds until a new worker must listen, and until a replaced worker must have ended. */
const READY_WITHIN = 60_000;
const LEFT_WITHIN = 20_000;

/** Milliseconds. A process that lived this long is restarted at once, a shorter-lived process after a growing pause. */
const LONG = 10_000;
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 30_000;

/**
 * The worker processes of one server. A worker that has listened is restarted whenever it ends. If a worker never
 * listens, the start fails. Limits of all workers are counted here, so that a dead worker keeps no share.
 */
export class Workers {
  #part;
  #surroundings;
  #counts = new Counts();
  #playground;
  #reports;
  /** The workers that run. @type {Set<Worker>} */
  #running = new Set();
  /** The number of workers. Undefined: the first worker has not reported it yet. @type {number | undefined} */
  #count;
  /** The worker of each number. It may have ended, and be about to be restarted. @type {Map<number, Life>} */
  #lives = new Map();
  /** Workers that are ready to replace the worker of their number. @type {Map<number, Life>} */
  #successors = new Map();
  /** @type {MetricsAddress | undefined} */
  #metrics;
  /** The banners of the workers that have listened, by number. @type {Map<number, readonly string[]>} */
  #listened = new Map();
  #ending = new AbortController();
  #well = true;
  /** @type {PromiseWithResolvers<readonly string[]>} */
  #ready = Promise.withResolvers();
  /** @type {PromiseWithResolvers<string>} */
  #failed = Promise.withResolvers();
  #ended;

  /**
   * @param {Part} part
   * @param {number | undefined} count Undefined: the default number.
   * @param {Surroundings} surroundings
   */
  constructor(part, count, surroundings) {
    this.#part = part;
    this.#surroundings = surroundings;
    this.#reports = new Reports(part.log);
    this.#playground = part.playground && new Playground(part.playground, surroundings);
    this.#ended = this.#run(count);
  }

  /** Resolves to the lines of the banner when all workers listen. */
  get ready() {
    return this.#ready.promise;
  }

  /** Resolves to the reason if a worker ends that never listened. */
  get failed() {
    return this.#failed.promise;
  }

  /** The address where scrapes are answered, known when all workers listen. Undefined: nowhere. */
  get metrics() {
    return this.#metrics;
  }

  /** Resolves to the sum of the metrics of all workers. */
  report() {
    const numbers = Array.from(this.#listened.keys(), (number) => {
      const worker = this.#lives.get(number)?.worker;
      const runs = worker !== undefined && this.#running.has(worker);
      return /** @type {const} */ ([number, runs ? worker : undefined]);
    });
    return this.#reports.collect(new Map(numbers));
  }

  /** @param {Worker} worker */
  has(worker) {
    return this.#running.has(worker);
  }

  /** Starts no more workers. When all have ended, it resolves to true if none had to be killed. */
  async end() {
    this.#ending.abort();
    this.kill('SIGTERM');
    await Promise.all([this.#ended, this.#playground?.end()]);
    return this.#well;
  }

  /** @param {NodeJS.Signals} signal */
  kill(signal) {
    for (const worker of this.#running) worker.process.kill(signal);
  }

  /** @param {number | undefined} count */
  async #run(count) {
    this.#count = count;
    if (count === undefined) {
      // The first worker reads from the configuration whether it is the only one.
      if (await this.#keep(1)) await this.#run(cores());
      return;
    }
    await Promise.all(Array.from({ length: count }, (_, index) => this.#keep(index + 1)));
  }

  /**
   * Replaces the workers one by one, each when its successor is ready. If a successor does not get ready, or listens at
   * other addresses, it ends, and the remaining workers stay. Resolves to that reason; undefined: all are new.
   * @returns {Promise<string | undefined>}
   */
  async replace() {
    for (const number of this.#lives.keys()) {
      const next = this.#begin(number);
      const reason = await Promise.race([
        next.ready.then(() => this.#elsewhere(number, next)),
        next.ended.then(({ reason: last }) => last),
        sleep(READY_WITHIN, 'it does not get ready', { ref: false }),
      ]);
      if (this.#ending.signal.aborted) return undefined;
      if (reason !== undefined) {
        next.worker.process.kill('SIGKILL');
        await next.ended;
        return reason;
      }
      const former = this.#lives.get(number);
      this.#successors.set(number, next);
      former?.worker.send({ replaced: true }, () => {});
      const late = setTimeout(() => former?.worker.process.kill('SIGKILL'), LEFT_WITHIN);
      await former?.ended;
      clearTimeout(late);
    }
    return undefined;
  }

  /**
   * Returns why a successor that is ready cannot replace a worker, or undefined if it can.
   * @param {number} number
   * @param {Life} next
   */
  #elsewhere(number, next) {
    const { addresses } = this.#lives.get(number) ?? next;
    if (addresses.symmetricDifference(next.addresses).size === 0) return undefined;
    return 'it listens at other addresses: ports change at a restart';
  }

  /**
   * Starts a worker, and restarts it whenever it ends. Resolves when it must not be restarted: to true if there must be
   * more workers than this.
   * @param {number} number
   */
  async #keep(number) {
    const { clock, log } = this.#surroundings;
    const { signal } = this.#ending;
    for (let pause = 0; !signal.aborted;) {
      const began = clock.now();
      const life = this.#successors.get(number) ?? this.#begin(number);
      this.#successors.delete(number);
      this.#lives.set(number, life);
      const { reason, ...last } = await life.ended;
      if (last.production === true) {
        this.#lives.delete(number);
        return true;
      }
      if (signal.aborted) break;
      if (this.#successors.has(number)) continue;
      if (!this.#listened.has(number)) {
        this.#failed.resolve(
          last.refused ??
            `The ${this.#part.name} has not started: ${reason}. This command leaves nothing running.`,
        );
        break;
      }
      const longer = Math.min(Math.max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE);
      pause = clock.now() - began < LONG ? longer : 0;
      log({
        level: 'error',
        server: this.#part.log,
        event: 'worker.ended',
        worker: number,
        reason: `a worker has ended: ${reason}; it is started again in ${pause} ms`,
      });
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
    return false;
  }

  /**
   * Starts a worker process.
   * @param {number} number
   * @returns {Life}
   */
  #begin(number) {
    const { env, execArgv } = this.#surroundings;
    const exec = this.#part.file;
    cluster.setupPrimary({ exec, args: [], execArgv, stdio: ['ignore', 2, 2, 'ipc'] });
    const told = this.#count && { COUNTERSIGN_WORKERS: `${this.#count}` };
    // The terminal shows the first announcement alone. A successor must not replace a link that an operator has.
    const unread = this.#listened.has(number) && { COUNTERSIGN_TERMINAL: '' };
    const worker = cluster.fork({ ...env, ...told, ...unread, COUNTERSIGN_WORKER: `${number}` });
    /** @type {PromiseWithResolvers<void>} */
    const { promise: ready, resolve } = Promise.withResolvers();
    /** @type {Set<string>} */
    const addresses = new Set();
    worker.on('listening', ({ address, port }) => addresses.add(`${address}:${port}`));
    const ended = this.#once(number, worker, resolve).catch(({ message }) => ({ reason: message }));
    return { worker, ready, addresses, ended };
  }

  /**
   * Follows a worker until it ends. Resolves to its last message and the reason of its end. Rejects if no process can
   * start.
   * @param {number} number
   * @param {Worker} worker
   * @param {() => void} ready
   * @returns {Promise<State & { readonly reason: string }>}
   */
  async #once(number, worker, ready) {
    worker.on('error', () => {}); // a message could not be sent to the worker: the `exit` event still tells of the end
    if (worker.process.pid === undefined) throw (await once(worker, 'error'))[0];
    this.#running.add(worker);
    /** @type {State} */
    let last = {};
    worker.on('message', (content) => {
      /** @type {State & Partial<Reckoning> & { readonly report?: Report, readonly playground?: number }} */
      const { shares, report, playground, ...message } = Object(content);
      if (playground !== undefined) return void this.#answer(worker, playground);
      if (report !== undefined) return this.#hear(worker, report);
      if (shares !== undefined) return this.#reckon(worker, { ...message, shares });
      last = message;
      if (last.ready !== true) return;
      this.#listened.set(number, last.banner ?? []);
      this.#metrics ??= last.metrics;
      ready();
      if (this.#listened.size === (this.#count ?? 1))
        this.#ready.resolve([...this.#listened.values()].flat());
    });
    /** @type {string} */
    const reason = await new Promise((end) => {
      worker.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    this.#running.delete(worker);
    this.#counts.forget(worker.id);
    this.#reports.end(worker);
    const { exitCode, signalCode } = worker.process;
    if (this.#ending.signal.aborted) this.#well &&= exitCode === 0 || signalCode === 'SIGTERM';
    return { ...last, reason: last.failed ?? last.refused ?? reason };
  }

  /**
   * @param {Worker} worker
   * @param {Report} report
   */
  #hear(worker, report) {
    if (this.#running.has(worker)) this.#reports.hear(worker, report);
  }

  /**
   * Tells a worker where the playground listens.
   * @param {Worker} worker
   * @param {number} playground The number of the question.
   */
  async #answer(worker, playground) {
    const port = await this.#playground?.port();
    worker.send({ playground, port }, () => {});
  }

  /**
   * Handles a message about shares. A worker that has ended gets no shares, since it cannot return them.
   * @param {Worker} worker
   * @param {Reckoning} reckoning
   */
  #reckon(worker, { take, shares }) {
    if (!this.#running.has(worker)) return;
    if (take === undefined) this.#counts.give(worker.id, shares);
    else worker.send({ take, taken: this.#counts.take(worker.id, shares) }, () => {});
  }
}
