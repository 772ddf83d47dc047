import cluster from 'node:cluster';
import { Workers } from './workers.js';

/** @import { Address, Worker } from 'node:cluster' */
/** @import { Part, Surroundings } from './workers.js' */

/**
 * Milliseconds. A signal within this time after the first is ignored as a repetition, since npm passes on a signal that
 * the terminal has already sent.
 */
const REPEATED = 1000;

/**
 * Runs the servers, each with several worker processes, until a signal arrives or a worker fails to start. All workers
 * then finish the requests in flight and end. A second signal kills them. Resolves to the exit code.
 * @param {readonly Part[]} parts
 * @param {number | undefined} workers The number for each server. Undefined: the default.
 * @param {Surroundings} surroundings
 * @returns {Promise<number>}
 */
export async function runServers(parts, workers, surroundings) {
  // Workers accept connections from a listener that they share. If the parent handed each connection over, that would
  // cost more than the request.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const servers = parts.map((part) => new Workers(part, workers, surroundings));
  const shared = sharedPort(servers);
  const scraped = answeringScrapes(servers, surroundings);
  if (!surroundings.terminal) replaceOnSignal(parts, servers, surroundings);
  const cause = await Promise.race([
    ...servers.map(({ failed }) => failed),
    shared.found,
    scraped.failed,
    stopSignal(surroundings, () => servers.forEach((server) => server.kill('SIGKILL'))),
  ]);
  if (cause !== undefined) surroundings.complain(cause);
  const ended = await Promise.all(servers.map((server) => server.end()));
  shared.stop();
  scraped.stop();
  return cause === undefined && ended.every(Boolean) ? 0 : 1;
}

/**
 * Announces that all servers listen, once scrapes are answered, too, if the configuration has them. `failed` resolves
 * to the reason if the port for scrapes cannot be opened.
 * @param {readonly Workers[]} servers
 * @param {Surroundings} surroundings
 */
function answeringScrapes(servers, { announce, clock }) {
  /** @type {PromiseWithResolvers<string>} */
  const { promise, resolve } = Promise.withResolvers();
  /** @type {{ close(): void } | undefined} */
  let listening;
  let stopped = false;
  const stop = () => {
    stopped = true;
    listening?.close();
  };
  const start = async () => {
    const lines = (await Promise.all(servers.map(({ ready }) => ready))).flat();
    const address = servers.map(({ metrics }) => metrics).find(Boolean);
    if (address !== undefined) {
      const { answerScrapes } = await import('./scrapes.js');
      listening = await answerScrapes(address, servers, clock);
      if (stopped) listening.close();
    }
    announce(lines);
  };
  start().catch(({ message }) => resolve(`Metrics cannot be served: ${message}`));
  return { failed: promise, stop };
}

/**
 * `found` resolves when two servers listen at the same address. node:cluster would treat it as a shared listener, and
 * give requests for one server to the other.
 * @param {readonly Workers[]} servers
 */
function sharedPort(servers) {
  /** @type {Map<string, Workers | undefined>} */
  const owners = new Map();
  /** @type {PromiseWithResolvers<string>} */
  const { promise, resolve } = Promise.withResolvers();
  /** @type {(worker: Worker, address: Address) => void} */
  const look = (worker, { address, port }) => {
    const server = servers.find((one) => one.has(worker));
    const at = `${address}:${port}`;
    const owner = owners.get(at) ?? server;
    owners.set(at, owner);
    if (owner !== server) resolve(`Both servers listen at ${at}: set ports in listen that differ.`);
  };
  cluster.on('listening', look);
  return { found: promise, stop: () => cluster.off('listening', look) };
}

/**
 * Resolves at the first signal, and calls `again` at the next signal that is not a repetition of the first.
 * @param {Surroundings} surroundings
 * @param {() => void} again
 * @returns {Promise<undefined>}
 */
function stopSignal({ signals, clock, terminal }, again) {
  return new Promise((resolve) => {
    /** @type {number | undefined} */
    let first;
    const receive = () => {
      first ??= clock.now();
      if (clock.now() - first > REPEATED) again();
      resolve(undefined);
    };
    const all = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGUSR2', ...(terminal ? ['SIGHUP'] : [])];
    for (const signal of all) signals.on(signal, receive);
  });
}

/**
 * SIGHUP replaces the workers of one server after the other, so that new workers read the configuration again. A SIGHUP
 * during such a round starts one more round. If a new worker does not get ready, the round ends, and the remaining
 * workers stay.
 * @param {readonly Part[]} parts
 * @param {readonly Workers[]} servers
 * @param {Surroundings} surroundings
 */
function replaceOnSignal(parts, servers, { signals, log }) {
  const round = async () => {
    for (const [index, server] of servers.entries()) {
      const name = parts[index]?.log ?? '';
      const reason = await server.replace();
      if (reason === undefined) log({ level: 'info', server: name, event: 'workers.replaced' });
      else return log({ level: 'error', server: name, event: 'workers.kept', reason });
    }
  };
  let last = Promise.resolve();
  let waiting = 0;
  signals.on('SIGHUP', () => {
    if (waiting > 1) return;
    waiting += 1;
    last = last.then(round).finally(() => (waiting -= 1));
  });
}
