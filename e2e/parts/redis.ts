/** @needs redis-server */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startProcess, until } from './process.ts';
import type { RunningProcess } from './process.ts';
import { redisCommand } from './redis-commands.ts';
import { memoryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

export interface RedisOptions {
  readonly password?: string;
  /** Use an append-only file with `appendfsync always`. */
  readonly appendonly?: boolean;
  /** The address and port; default: 127.0.0.1 and a free port. */
  readonly host?: string;
  readonly port?: number;
  /** The port of the master that this replica copies. */
  readonly replicaOf?: number;
  /** Further lines of redis.conf. */
  readonly settings?: readonly string[];
}

/** A redis-server on a loopback port with its own folder. */
export class Redis implements AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly #host: string;
  readonly #password: string | undefined;
  readonly #folder: TemporaryFolder;
  #process: RunningProcess | undefined;

  constructor(host: string, port: number, folder: TemporaryFolder, password: string | undefined) {
    this.#host = host;
    this.port = port;
    this.url = `redis://${password === undefined ? '' : `:${password}@`}${host}:${port}`;
    this.#password = password;
    this.#folder = folder;
  }

  /** Starts the server, also after `kill`, with the same port and data. */
  async start(): Promise<void> {
    this.#process = await startProcess('redis-server', ['redis.conf'], {
      cwd: this.#folder.path,
      ready: async () => (await this.cli('PING')) === 'PONG',
    });
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  async kill(): Promise<void> {
    await this.#process?.kill('SIGKILL');
  }

  /** Sends SIGSTOP: the kernel accepts connections, but no answer comes. */
  hang(): void {
    this.#process?.signal('SIGSTOP');
  }

  /** Sends SIGCONT. */
  wake(): void {
    this.#process?.signal('SIGCONT');
  }

  /** The answer to a command, as redis-cli prints it. */
  async cli(...args: readonly string[]): Promise<string> {
    return redisCommand({ host: this.#host, port: this.port, password: this.#password }, args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.#folder[Symbol.asyncDispose]();
  }
}

/**
 * Starts a server. A replica has then copied its master: the first replica gives the master a new
 * `master_replid`, and the master's replication history begins again.
 */
export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  const folder = await memoryFolder();
  const { password, host = '127.0.0.1', port = await freePort() } = options;
  const lines = [
    `bind ${host}`,
    `port ${port}`,
    'save ""',
    ...(options.appendonly ? ['appendonly yes', 'appendfsync always'] : []),
    ...(password === undefined ? [] : [`requirepass ${password}`, `masterauth ${password}`]),
    ...(options.replicaOf === undefined ? [] : [`replicaof 127.0.0.1 ${options.replicaOf}`]),
    'repl-diskless-sync-delay 0',
    ...(options.settings ?? []),
  ];
  await writeFile(join(folder.path, 'redis.conf'), `${lines.join('\n')}\n`);
  const redis = new Redis(host, port, folder, password);
  try {
    await redis.start();
    if (options.replicaOf !== undefined) {
      await until(async () =>
        (await redis.cli('INFO', 'replication')).includes('master_link_status:up'),
      );
    }
    return redis;
  } catch (error) {
    await redis[Symbol.asyncDispose]();
    throw error;
  }
}
