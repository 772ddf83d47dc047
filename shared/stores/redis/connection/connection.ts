import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#shared/base/log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { forAll } from '#shared/base/for-all.ts';
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

/** Milliseconds before the next attempt to open the connections. */
const AGAIN = 500;

/** Leaves nothing behind, and yet is a write: WAIT waits for it and so for all before it. */
const touch = script(`
redis.call('SET', KEYS[1], '')
redis.call('DEL', KEYS[1])
`);

/**
 * The way to Redis. Every verb rejects with `StoreUnavailable`.
 *
 * What somebody is told was done goes through a durable verb: it waits until as many replicas as
 * configured have what was written. These have a connection to each master of their own, since WAIT
 * blocks it and counts only what was written over it. Writes that nobody is told of need no replica.
 */
export class Connection implements Disposable {
  readonly #shared: Link;
  readonly #durable: Link;
  readonly #replicas: number;
  /** Milliseconds that replicas have to confirm a write: half of those for any answer. */
  readonly #patience: number;
  readonly #confirmations = new WeakMap<Wire, () => Promise<number>>();

  constructor(topology: Topology, replicas: number, log: Log, deadline: number) {
    this.#shared = new Link((life) => topology.shared(life), log, deadline);
    const part = 'Redis, writes that wait for replicas';
    this.#durable = new Link((life) => topology.shared(life), log, deadline, part);
    this.#replicas = replicas;
    this.#patience = deadline / 2;
  }

  /** Opens its connections: at the start, when there is time for several attempts. */
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

  /** Runs a command; its first argument after the name is its only key. */
  command<T>(name: string, key: string, ...args: readonly string[]): Promise<T> {
    return this.#shared.use((wire) => wire.send<T>(key, [name, key, ...args]));
  }

  /** Runs a script on keys of one slot. */
  script<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
    return this.#shared.use((wire) => evalScript<T>(wire, body, keys, args));
  }

  durable<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
    return this.confirmed(keys[0], (wire) => evalScript<T>(wire, body, keys, args));
  }

  /** Whether what is in the slot of `key` can be written. */
  async touch(key: string): Promise<void> {
    const tagged = key.includes('{') ? key : `{${key}}`;
    await this.durable(touch, [`${tagged}:touch`]);
  }

  /** Runs `work` on the wire to the master that owns `key`. */
  async onOwner<T>(key: string, work: (owner: Wire) => Promise<T>): Promise<T> {
    return (await this.#shared.use((wire) => atOwner(wire, key, work))).reply;
  }

  /** The same for a write, until as many replicas as configured have it. */
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

  /** One WAIT serves all commands of a connection that were answered and now wait for replicas. */
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

/**
 * Runs `work` on the wire to the owner of `key` itself: were the command redirected, WAIT would ask another server than the one
 * that was written to.
 */
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

/** EVALSHA, and EVAL where the server does not know the script yet. */
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
