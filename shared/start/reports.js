import { lasting, merged } from '#shared/server/metrics/report.js';

/** @import { Worker } from 'node:cluster' */
/** @import { Report } from '#shared/server/metrics/report.js' */

/** Milliseconds within which a worker must answer a scrape. A worker that hangs does not delay the scrape further. */
const PATIENCE = 1000;

/**
 * Sums the metrics of all workers of one server. If a worker does not answer, its last report is used. The counters of
 * workers that have ended are kept.
 */
export class Reports {
  #server;
  /** @type {Map<Worker, Report>} */
  #last = new Map();
  /** @type {Report} */
  #ended = {};
  /** Workers that were asked and have not answered. @type {Map<Worker, () => void>} */
  #asked = new Map();

  /** @param {string} server */
  constructor(server) {
    this.#server = server;
  }

  /**
   * @param {Worker} worker
   * @param {Report} report
   */
  hear(worker, report) {
    this.#last.set(worker, report);
    this.#asked.get(worker)?.();
  }

  /** @param {Worker} worker */
  end(worker) {
    this.#ended = merged([this.#ended, lasting(this.#last.get(worker) ?? {})]);
    this.#last.delete(worker);
    this.#asked.get(worker)?.();
  }

  /**
   * Asks all workers for their reports. `numbers`: the workers by their numbers; undefined for a worker that is being
   * restarted.
   * @param {ReadonlyMap<number, Worker | undefined>} numbers
   * @returns {Promise<Report>}
   */
  async collect(numbers) {
    const answered = await Promise.all(
      Array.from(numbers, async ([number, worker]) => {
        const up = worker !== undefined && (await this.#ask(worker));
        return /** @type {const} */ ([[this.#server, String(number)], [up ? 1 : 0]]);
      }),
    );
    return merged([this.#ended, ...this.#last.values(), { workerUp: answered }]);
  }

  /**
   * Resolves to whether the worker has answered in time.
   * @param {Worker} worker
   * @returns {Promise<boolean>}
   */
  #ask(worker) {
    return new Promise((resolve) => {
      /** @param {boolean} up */
      const over = (up) => {
        clearTimeout(timer);
        this.#asked.delete(worker);
        resolve(up);
      };
      const timer = setTimeout(() => over(false), PATIENCE);
      this.#asked.set(worker, () => over(this.#last.has(worker)));
      worker.send({ report: true }, (error) => error && over(false));
    });
  }
}
