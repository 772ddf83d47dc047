import cluster from 'node:cluster';
import { Workers } from './workers.js';

/** @import { Address, Worker } from 'node:cluster' */
/** @import { Part, Surroundings } from './workers.js' */

/** Signals that follow the first within this time repeat it: npm passes on what the terminal has sent already. */
const REPEATED = 1000;

/**
 * Runs the servers, each as so many processes, until a signal comes or one of them does not come to listen; then all
 * end, with the requests in flight. A second signal kills. Resolves to the exit code.
 * @param {readonly Part[]} parts
 * @param {number | undefined} workers Of each; undefined: as many as is usual.
 * @param {Surroundings} surroundings
 * @returns {Promise<number>}
 */
export async function runServers(parts, workers, surroundings) {
  // Workers take connections from the listener that they share: handing each over cost more than to serve it.
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
 * Announces that all listen, once scrapes are answered, too, if the configuration wants that. `failed` resolves to why
 * they cannot be.
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
 * `found` resolves when two servers listen at one address, which node:cluster takes for one that they share: what comes
 * for the one would be given to the other.
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
 * Resolves at the first signal; calls `again` at one that is not a repetition of it.
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
 * SIGHUP replaces the workers of the servers, one server after the other, with such as read the configuration anew. One
 * that comes meanwhile makes one more round. What does not get ready ends the round: the workers that are left stay.
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
