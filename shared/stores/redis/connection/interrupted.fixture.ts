import { silentLog } from '#shared/base/log.ts';
import { startRedis } from '../../../../e2e/parts/redis.ts';
import { Connection } from './connection.ts';
import type { Script } from './connection.ts';
import { topologyOf } from './topology.ts';
import { redisConfig } from '../under-test.ts';

interface Interruption {
  readonly before: RegExp;
  readonly work: () => Promise<unknown>;
}

/** A connection on which something happens just before a step: the next command or script on such a key. */
export class Interrupted extends Connection {
  readonly interruptions: Interruption[] = [];

  override async command<T>(name: string, key: string, ...args: readonly string[]): Promise<T> {
    await this.#reach(`${name} ${key}`);
    return super.command<T>(name, key, ...args);
  }

  override async script<T>(
    body: Script,
    keys: readonly [string, ...string[]],
    ...args: readonly string[]
  ): Promise<T> {
    await this.#reach(`SCRIPT ${keys[0]}`);
    return super.script<T>(body, keys, ...args);
  }

  override async durable<T>(
    body: Script,
    keys: readonly [string, ...string[]],
    ...args: readonly string[]
  ): Promise<T> {
    await this.#reach(`SCRIPT ${keys[0]}`);
    return super.durable<T>(body, keys, ...args);
  }

  override async durableCommand<T>(
    name: string,
    key: string,
    ...args: readonly string[]
  ): Promise<T> {
    await this.#reach(`${name} ${key}`);
    return super.durableCommand<T>(name, key, ...args);
  }

  async #reach(step: string): Promise<void> {
    const [next] = this.interruptions;
    if (!next?.before.test(step)) return;
    this.interruptions.shift();
    await next.work();
  }
}

/** Milliseconds. */
const DEADLINE = 10_000;

/** A Redis of its own, a connection on which something may happen, and one that is left alone. */
export async function interruptedRedis() {
  const redis = await startRedis();
  const topology = topologyOf(redisConfig({ urls: [redis.url] }), {
    deadline: DEADLINE,
    monotonic: () => performance.now(),
  });
  const open = () => new Interrupted(topology, 0, silentLog, DEADLINE);
  const [connection, undisturbed] = [open(), open()];
  return {
    connection,
    undisturbed,
    redis,
    async [Symbol.asyncDispose]() {
      connection[Symbol.dispose]();
      undisturbed[Symbol.dispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}
