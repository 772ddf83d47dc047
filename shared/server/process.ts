import cluster from 'node:cluster';
import { flushCompileCache } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { type Clock, systemClock } from '#shared/base/clock.ts';
import { loadConfig } from '#shared/config/load.ts';
import { serviceLinks } from '#shared/config/environment.ts';
import { listenerOf } from '#shared/config/local-origin.ts';
import { loadPairConfig } from '#shared/config/pair-config.ts';
import { isProduction } from '#shared/config/production.ts';
import type { Config } from '#shared/config/schema.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import type { ServerName } from '#shared/config/server-name.ts';
import { checkStart } from '#shared/config/start-mistakes.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { CODE } from '#shared/base/entry.ts';
import { gatherLines } from '#shared/base/gathered-lines.ts';
import { jsonLog, type Log } from '#shared/base/log.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { printableLines } from '#shared/base/printable.ts';
import { type Random, systemRandom } from '#shared/base/random.ts';
import { VERSION } from '#shared/base/version.ts';
import { UNTOLD, WORKER, WORKERS } from '#shared/base/workers.ts';
import { reportThrown } from '#shared/base/safe-timers.ts';
import { type Chore, every } from './chore.ts';
import type { Ready } from './endpoints/health.ts';
import { configuredLimits } from './limits/configured-limits.ts';
import { spaceLabels } from './metrics/labels.ts';
import { createMetrics } from './metrics/metrics.ts';
import { measuredLog } from './metrics/of-log.ts';
import { measuredStores } from './metrics/of-stores.ts';
import { reportMetrics } from './metrics/report-metrics.ts';
import { processChore } from './process-chore.ts';
import { setHeapFlags } from './heap-flags.ts';
import { collectWhenIdle, sinceLast } from './idle-memory.ts';
import { watchMemory } from './memory-watch.ts';
import type { RefusalAt } from './message/connection-error.ts';
import type { AnyHandler } from './message/message.ts';
import { type Handler, listen, type Listening, type ServerLimits } from './listen/listen.ts';
import { createReady } from './readiness.ts';
import { openStores } from '#shared/stores/open.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { KeyTable } from '#shared/stores/keys/keys.ts';
import { keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** Milliseconds that requests in flight get when the process is asked to end. */
const GRACE_MILLISECONDS = 10_000;
/**
 * Seconds for which `/health/ready` answers 503 in production before the server stops, so that a load balancer stops
 * sending requests.
 */
const DRAIN = 3;

/** The parts of a server; the process opens and closes them. */
export interface Parts {
  readonly config: Config;
  readonly stores: Stores;
  readonly feed: RevocationFeed;
  /** The master secret: 32 bytes. */
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Checks for `/health/ready` whether the server can do its work; also rejects when the server is about to end. */
  readonly ready: Ready;
  /** Aborted when the server stops accepting requests, so that long polls and streams end. */
  readonly ending: AbortSignal;
}

/** An additional listener. */
export interface Beside {
  /** The listener's member of `listen` in the configuration. */
  readonly name: 'proxy' | 'resourceTls' | 'authzTls';
  /** `all`: the process's listeners so far; `main` is the first of them. */
  open(main: Listening, all: readonly Listening[]): Promise<Listening>;
}

export interface Server {
  readonly handler: Handler;
  /** Handles HTTP/2 requests on the same port in clear text; absent: HTTP/1.1 only. */
  readonly http2?: AnyHandler;
  /** True if a request may become a WebSocket. */
  readonly webSockets?: boolean;
  /**
   * Changes a refusal that is sent before a handler sees the request, by the request's address; default: unchanged.
   */
  readonly refusalAt?: RefusalAt;
  readonly limits?: Partial<ServerLimits>;
  readonly chores: readonly Chore[];
  /** Additional listeners of the same process, opened when the first one listens. */
  readonly beside?: readonly Beside[];
  /** Resources that the server holds open. They are closed after all requests have ended, and before the stores. */
  readonly holds?: AsyncDisposable;
  /** Checks whether the server can do its work, if the process itself cannot check all of it. */
  readonly ready?: Ready;
  /** Returns the least difference in seconds from the other server's clock, once it is known. */
  clockDifference?(): number | undefined;
  /** Data for the parent process, in addition to `ready` and `url`. */
  readonly report?: object | undefined;
}

interface Role {
  readonly name: ServerName;
  /** True for the process of the playground, which logs only warnings and errors: the workers log its requests. */
  readonly ofPlayground?: true;
  /** The table of the server's signing keys. */
  readonly keys: KeyTable;
  /** True if the server gives a new store its epoch; only an authorization server does. */
  readonly makesEpoch: boolean;
  /** Loads the server's configuration; default: that of the operator. */
  load?(env: NodeJS.ProcessEnv): Promise<Config>;
  /** Returns the server's public origin. */
  origin(config: Config): string;
  create(parts: Parts): Promise<Server>;
}

/**
 * Runs a server as this process, alone or as one of several workers, until a signal. At a signal `/health/ready`
 * answers 503 (in production for a while first, for load balancers). Then the server stops accepting requests and
 * finishes those in flight, and the process ends by itself. It logs to standard error, one JSON object per line; it
 * also reports the reason of a failed start to its parent. When the parent dies, node:cluster ends its workers at
 * once.
 */
export async function runProcess(role: Role, env: NodeJS.ProcessEnv): Promise<void> {
  process.stderr.on('error', () => {}); // the log's reader has ended, or its disk is full: lost lines are counted
  const lines = gatherLines(process.stderr, (lost) => log.warn('log.lost', { lines: lost }));
  for (const last of ['uncaughtExceptionMonitor', 'exit'] as const) process.on(last, lines.flush);
  const name = role.ofPlayground ? 'playground' : role.name;
  const all = jsonLog(lines.write, systemClock, name, WORKERS > 1 ? WORKER : undefined);
  const log = role.ofPlayground ? { ...all, info() {} } : all;
  try {
    await serve(role, env, log);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const refused = paired(env) && error instanceof ConfigError;
    if (!refused) log.error('start.failed', { reason });
    process.exitCode = 1;
    const text = printableLines(reason);
    const message = refused ? { refused: text } : { failed: text };
    await new Promise((sent) => process.send?.(message, sent) ?? sent(undefined));
  }
  // Without this, node:cluster would end the process here, with exit code 0.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  if (process.connected) process.disconnect?.();
}

/** True if shared/start runs the process; shared/start then reports configuration errors, once for both servers. */
const paired = (env: NodeJS.ProcessEnv) => env['COUNTERSIGN_PAIR'] !== undefined;

async function serve(role: Role, env: NodeJS.ProcessEnv, plainLog: Log): Promise<void> {
  const ending = asked();
  const load = role.load ?? (paired(env) ? loadPairConfig : loadConfig);
  const config = await load(env);
  if (UNTOLD && isProduction(config)) {
    process.send?.({ production: true });
    return;
  }
  await checkStart(config, env, [role.name]);
  const master = await readMasterSecret(config, env);
  const [clock, random] = [systemClock, systemRandom];
  const metrics = createMetrics(role.name, WORKER);
  const log = measuredLog(plainLog, metrics, spaceLabels(config));
  log.info('starting', { version: VERSION, code: CODE });
  if (WORKER === 1) {
    for (const { path, message } of serviceLinks(env)) {
      log.warn('environment.unknown', { variable: path, reason: message });
    }
  }
  reportThrown((error) => {
    log.error('timer.failed', { reason: error instanceof Error ? error.stack : String(error) });
  });
  const { promise: lost, resolve: moved } = Promise.withResolvers<string>();
  await using opened = await openStores(config, { clock, random, log, moved, creates: 'first' });
  const stores = measuredStores(opened, metrics, clock);
  // If a resource server is the first to use a store, it is not ready, though nothing has failed.
  const isNew = (await stores.revocations.epoch(role.makesEpoch)) === undefined;
  if (isNew) log.info('store.new');
  await using feed = await stores.revocations.feed();
  let draining = false;
  const monotonic = () => performance.now();
  const works = createReady({ stores, feed, log, monotonic, isNew });
  const ready: Ready = async (need, asks) => {
    if (draining) throw new Error('the server is about to end');
    await works(need, asks);
  };
  const ends = new AbortController();
  const parts = { config, stores, feed, master, clock, random, log, ready, ending: ends.signal };
  const server = await role.create(parts);
  await using held = new AsyncDisposableStack();
  if (server.holds) held.use(server.holds);
  using chores = new DisposableStack();
  const alive = processChore(role.name, { store: ready, ready: server.ready ?? ready }, parts);
  for (const chore of [...server.chores, watchMemory(feed, log), alive]) {
    chores.use(every(chore, log));
  }

  const { handler, http2, webSockets = false, refusalAt, beside = [] } = server;
  const limits = configuredLimits(config, server.limits);
  const trusted = trustedProxies(config.trustedProxies);
  await using listening = await onPort(config, role.name, () =>
    listen({
      ...listenerOf(config, role.name),
      handler,
      ...(http2 && { http2: { handler: http2 } }),
      webSockets,
      refusalAt,
      limits,
      trusted,
      log,
    }),
  );
  await using others = new AsyncDisposableStack();
  const open = [listening];
  for (const { name, open: openBeside } of beside) {
    const another = others.use(await onPort(config, name, () => openBeside(listening, open)));
    open.push(another);
    log.info(name, { address: another.address, port: another.port });
  }
  const { metrics: scraped } = config.listen;
  const keys = keyLifecycle(role.keys, parts);
  const { lastBackup, logouts } = role.name === 'authz' ? stores : {};
  const reports = {
    metrics,
    feed,
    ready: server.ready ?? ready,
    life: keys,
    lastBackup,
    logouts,
    clock,
    clockDifference: server.clockDifference ?? (() => undefined),
  };
  using reporting =
    scraped &&
    (await onPort(config, 'metrics', () => reportMetrics({ ...reports, address: scraped })));
  const url = role.origin(config);
  log.info('listening', { url, address: listening.address, port: listening.port });
  // The start does not wait for this report; a failed report is repeated with the next one.
  alive.run().catch(() => {});
  // The next start finds the cache of NODE_COMPILE_CACHE, even if this process is killed.
  flushCompileCache();
  chores.use(every(collectWhenIdle(sinceLast(), setHeapFlags()), log));
  process.send?.({ ready: true, url, port: listening.port, metrics: scraped, ...server.report });

  const reason = await Promise.race([ending, lost.then(noMore(log))]);
  log.info('ending', { reason });
  draining = true;
  if (!AT_ONCE.has(reason)) await setTimeout(1000 * drainOf(config));
  ends.abort();
  await Promise.all(open.map((one) => one.close(GRACE_MILLISECONDS)));
  reporting?.last();
  // This report is only for operators, so a store that does not answer must not delay the end.
  await Promise.race([
    alive.end().catch(() => {}),
    setTimeout(LAST_REPORT, undefined, { ref: false }),
  ]);
}

type Listens = Omit<Config['listen'], 'host'>;

async function onPort<Name extends keyof Listens, Opened>(
  { listen: addresses }: Config,
  name: Name,
  open: (address: Listens[Name]) => Promise<Opened>,
): Promise<Opened> {
  const address = addresses[name];
  return open(address).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(
      `port ${address?.port} is taken: end what runs there, or set listen.${name}.port to another`,
    );
  });
}

/** Milliseconds for the last report of a process. */
const LAST_REPORT = 1000;

const drainOf = (config: Config) => config.server.drain ?? (isProduction(config) ? DRAIN : 0);

/** The reason for which a worker ends when its successor works. */
const REPLACED = 'replaced';

/** The reason for which a process ends when it has lost its store. */
const MOVED = 'moved';

/**
 * Reasons for which a process ends without a wait for load balancers: a worker and its successor listen at one
 * address, and a process without a store answers 503 anyway.
 */
const AT_ONCE: ReadonlySet<string> = new Set([REPLACED, MOVED]);

/** Logs why the process has lost its store. By the exit code a supervisor restarts the process. */
const noMore = (log: Log) => (reason: string) => {
  log.error('store.moved', { reason });
  process.exitCode = 1;
  process.send?.({ failed: printableLines(reason) });
  return MOVED;
};

/**
 * Resolves with the reason when the process is asked to end: by a signal, because its parent with a channel has died,
 * or because another worker has replaced this one. In a worker node:cluster watches the channel, and the parent
 * handles Ctrl-C, SIGQUIT and SIGHUP. A worker gets SIGTERM twice if a supervisor sends it to all processes of a
 * service: from the supervisor and from the parent. The second SIGTERM must not kill the worker; if necessary, its
 * parent kills it with SIGKILL.
 */
function asked(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  if (cluster.isWorker) {
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {});
    for (const signal of ['SIGTERM', 'SIGUSR2'] as const) process.on(signal, resolve);
    process.on('message', (message) => {
      if (Object(message)['replaced'] === true) resolve(REPLACED);
    });
  } else {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;
    for (const event of [...signals, 'disconnect'] as const) process.once(event, resolve);
  }
  return promise;
}
