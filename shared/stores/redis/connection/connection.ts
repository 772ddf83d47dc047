import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#shared/base/log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { forAll } from '#shared/base/for-all.ts';
import { Link } from './link.ts';
import type { Topology, Wire } from './topology.ts';

/** A Lua script and its SHA-1, by which Redis knows it. */
export interface Script {
  readonly lua: string;
  readonly sha1: string;
}

export function script(lua: string): Script {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') };
}

/** Milliseconds before the next attempt to open the connections. */
const AGAIN = 500;

/** A write without an effect: WAIT then waits for all earlier writes. */
const touch = script(`
redis.call('SET', KEYS[1], '')
redis.call('DEL', KEYS[1])
`);

/**
 * The connections to Redis. Every verb rejects with `StoreUnavailable`. A write that is acknowledged to a client is
 * durable: it waits until the configured number of replicas have it. Durable writes have their own connections, since
 * WAIT blocks a connection and counts only its writes.
 */
export class Connection implements Disposable {
  readonly #shared: Link;
  readonly #durable: Link;
  readonly #replicas: number;
  /** Milliseconds for the confirmation of a write by replicas: half of the deadline. */
  readonly #patience: number;
  readonly #confirmations = new WeakMap<Wire, () => Promise<number>>();

  constructor(topology: Topology, replicas: number, log: Log, deadline: number) {
    this.#shared = new Link((life) => topology.shared(life), log, deadline);
    const part = 'Redis, writes that wait for replicas';
    this.#durable = new Link((life) => topology.shared(life), log, deadline, part);
    this.#replicas = replicas;
    this.#patience = deadline / 2;
  }

  /** Opens the connections, in several attempts: a start has time. */
  async open(attempts: number): Promise<void> {
    const links = this.#replicas > 0 ? [this.#shared, this.#durable] : [this.#shared];
    for (let attempt = 1; ; attempt += 1) {
      try {
        return void (await Promise.all(links.map((link) => link.use(async () => {}))));
      } catch (error) {
        if (attempt === attempts) throw error;
        await sleep(AGAIN);
      }
    }
  }

  /** Runs a command. The first argument is its only key. */
  command<T>(name: string, key: string, ...args: readonly string[]): Promise<T> {
    return this.#shared.use((wire) => wire.send<T>(key, [name, key, ...args]));
  }

  /** Runs a script whose keys are in one slot. */
  script<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
    return this.#shared.use((wire) => evalScript<T>(wire, body, keys, args));
  }

  durable<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
    return this.confirmed(keys[0], (wire) => evalScript<T>(wire, body, keys, args));
  }

  /** Rejects if the slot of `key` cannot be written. */
  async touch(key: string): Promise<void> {
    const tagged = key.includes('{') ? key : `{${key}}`;
    await this.durable(touch, [`${tagged}:touch`]);
  }

  /** Runs `work` on the connection to the master that owns `key`. */
  async onOwner<T>(key: string, work: (owner: Wire) => Promise<T>): Promise<T> {
    return (await this.#shared.use((wire) => atOwner(wire, key, work))).reply;
  }

  /** Runs a write in the same way, and waits for the configured number of replicas. */
  confirmed<T>(key: string, write: (owner: Wire) => Promise<T>): Promise<T> {
    if (this.#replicas === 0) return this.onOwner(key, write);
    return this.#durable.use(async (wire) => {
      const { reply, owner } = await atOwner(wire, key, write);
      const confirmed = await this.#confirmation(owner)();
      if (confirmed < this.#replicas) {
        throw new StoreUnavailable(`${confirmed} of ${this.#replicas} replicas have the write`);
      }
      return reply;
    });
  }

  /** One WAIT serves all commands of a connection that are answered by then. */
  #confirmation(wire: Wire): () => Promise<number> {
    const known = this.#confirmations.get(wire);
    if (known !== undefined) return known;
    const command = ['WAIT', String(this.#replicas), String(this.#patience)];
    const confirmation = forAll(() => wire.send<number>('', command));
    this.#confirmations.set(wire, confirmation);
    return confirmation;
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
    this.#durable[Symbol.dispose]();
  }
}

/** Runs `work` on the connection to the owner of `key`. After a redirection WAIT would ask another server. */
async function atOwner<T>(wire: Wire, key: string, work: (owner: Wire) => Promise<T>) {
  const owner = await wire.owner(key);
  try {
    return { reply: await work(owner), owner };
  } catch (error) {
    const other = await wire.redirected?.(error, key);
    if (other === undefined) throw error;
    return { reply: await work(other), owner: other };
  }
}

export type Keys = readonly [string, ...string[]];

/** Sends EVALSHA, or EVAL if the server does not know the script. */
export async function evalScript<T>(
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
