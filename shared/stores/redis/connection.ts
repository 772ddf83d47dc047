import { createHash } from 'node:crypto';
import type { Log } from '#shared/log.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import { Link } from './link.ts';
import type { Topology, Wire } from './topology.ts';

/** A Lua script; Redis knows it by its SHA-1. */
export interface Script {
  readonly lua: string;
  readonly sha1: string;
}

export function script(lua: string): Script {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') };
}

/** Milliseconds that replicas have to confirm a write. */
const CONFIRMATION = 500;

/** The one way to Redis for all stores but the feed. Every verb rejects with `StoreUnavailable`. */
export class Connection implements Disposable {
  readonly #shared: Link;
  readonly #durable: Link;
  readonly #replicas: number;

  /** `durableKey` is a key of the slot that `durable` writes to. */
  constructor(
    topology: Topology,
    durableKey: string,
    replicas: number,
    log: Log,
    deadline?: number,
  ) {
    this.#shared = new Link((life) => topology.shared(life), log, deadline);
    this.#durable = new Link((life) => topology.dedicated(durableKey, life), log, deadline);
    this.#replicas = replicas;
  }

  /** Runs a command; its first argument after the name is its only key. */
  command<T>(name: string, key: string, ...args: readonly string[]): Promise<T> {
    return this.#shared.use((wire) => wire.send<T>(key, [name, key, ...args]));
  }

  /** Runs a script on keys of one slot. */
  script<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
    return this.#shared.use((wire) => evaluate<T>(wire, body, keys, args));
  }

  /**
   * Runs a script and waits until as many replicas as configured have what it wrote. A connection
   * of its own, since WAIT blocks it and counts only the writes of the connection it is sent on.
   */
  durable<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
    return this.#durable.use(async (wire) => {
      const reply = await evaluate<T>(wire, body, keys, args);
      if (this.#replicas === 0) return reply;
      const wait = ['WAIT', String(this.#replicas), String(CONFIRMATION)];
      const confirmed = await wire.send<number>(keys[0], wait);
      if (confirmed < this.#replicas) {
        throw new StoreUnavailable(`${confirmed} of ${this.#replicas} replicas have the write`);
      }
      return reply;
    });
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
    this.#durable[Symbol.dispose]();
  }
}

type Keys = readonly [string, ...string[]];

/** EVALSHA, and EVAL where the server does not know the script yet. */
export async function evaluate<T>(
  wire: Wire,
  body: Script,
  keys: Keys,
  args: readonly string[] = [],
): Promise<T> {
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await wire.send<T>(keys[0], ['EVALSHA', body.sha1, ...rest]);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return wire.send<T>(keys[0], ['EVAL', body.lua, ...rest]);
  }
}
