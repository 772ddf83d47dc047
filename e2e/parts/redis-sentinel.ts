/** @needs redis-sentinel */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startProcess, until } from './process.ts';
import type { RunningProcess } from './process.ts';
import { redisCommand } from './redis-commands.ts';
import { startRedis } from './redis.ts';
import type { Redis } from './redis.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface SentinelSet extends AsyncDisposable {
  /** The sentinels' URLs, with the servers' password. */
  readonly urls: string[];
  /** The initial master, then the replicas. */
  readonly servers: readonly Redis[];
  /** Sends SIGSTOP or SIGCONT to all sentinels. */
  hang(): void;
  wake(): void;
  /** The number of connections that a sentinel has accepted so far. */
  accepted(): Promise<number>;
  /** The server that a sentinel names as master now. */
  master(): Promise<Redis>;
  /** Makes all sentinels name another server, as after a failover that the old master has not noticed. */
  name(master: Redis): Promise<void>;
}

export interface SentinelOptions {
  readonly password?: string;
}

/** A master, two replicas and three sentinels (quorum 2) that fail over within a few seconds. */
export async function startSentinels(options: SentinelOptions = {}): Promise<SentinelSet> {
  await using parts = new AsyncDisposableStack();
  const { password } = options;
  const settings = ['min-replicas-to-write 1'];
  const common = { appendonly: true, settings, ...(password === undefined ? {} : { password }) };
  const master = parts.use(await startRedis(common));
  const servers = [master];
  for (let replica = 0; replica < 2; replica++) {
    servers.push(parts.use(await startRedis({ ...common, replicaOf: master.port })));
  }
  const ports: number[] = [];
  const processes: RunningProcess[] = [];
  while (ports.length < 3) {
    const folder = parts.use(await temporaryFolder());
    const port = await freePort();
    const lines = [
      'bind 127.0.0.1',
      `port ${port}`,
      `sentinel monitor mymaster 127.0.0.1 ${master.port} 2`,
      'sentinel down-after-milliseconds mymaster 2000',
      'sentinel failover-timeout mymaster 6000',
      ...(password === undefined ? [] : [`sentinel auth-pass mymaster ${password}`]),
    ];
    await writeFile(join(folder.path, 'sentinel.conf'), `${lines.join('\n')}\n`);
    const sentinel = parts.use(
      await startProcess('redis-sentinel', ['sentinel.conf'], {
        cwd: folder.path,
        ready: async () => (await cli(port, 'PING')) === 'PONG',
      }),
    );
    // A sentinel checks its servers every 10 s by default, and waits four times `publish-period` for a
    // returning server.
    await cli(port, 'SENTINEL', 'DEBUG', 'info-period', '1000', 'publish-period', '500');
    processes.push(sentinel);
    ports.push(port);
  }
  await until(async () => {
    const states = await Promise.all(
      ports.map((port) => cli(port, 'SENTINEL', 'MASTER', 'mymaster')),
    );
    const copies = await Promise.all(servers.slice(1).map((replica) => replica.cli('INFO')));
    return (
      copies.every((info) => info.includes('master_link_status:up')) &&
      states.every(
        (state) => /num-slaves\n2\n/.test(state) && /num-other-sentinels\n2\n/.test(state),
      )
    );
  });
  const [first] = ports;
  if (first === undefined) throw new Error('there are no sentinels');
  const owned = parts.move();
  return {
    urls: ports.map(
      (port) => `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`,
    ),
    servers,
    hang: () => processes.forEach((one) => one.signal('SIGSTOP')),
    wake: () => processes.forEach((one) => one.signal('SIGCONT')),
    async accepted() {
      const info = await cli(first, 'INFO', 'stats');
      return Number(/total_connections_received:(\d+)/.exec(info)?.[1]);
    },
    async master() {
      const answer = await cli(first, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster');
      const named = servers.find((server) => String(server.port) === answer.split('\n')[1]);
      if (named === undefined) throw new Error(`the sentinel names a stranger: ${answer}`);
      return named;
    },
    async name(other) {
      // All sentinels forget first, because a sentinel that remembers would tell the other sentinels.
      for (const port of ports) await cli(port, 'SENTINEL', 'REMOVE', 'mymaster');
      for (const port of ports) {
        await cli(port, 'SENTINEL', 'MONITOR', 'mymaster', '127.0.0.1', `${other.port}`, '2');
        if (password !== undefined) {
          await cli(port, 'SENTINEL', 'SET', 'mymaster', 'auth-pass', password);
        }
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function cli(port: number, ...args: readonly string[]): Promise<string> {
  return redisCommand({ host: '127.0.0.1', port }, args);
}
