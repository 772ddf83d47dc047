/**
 * Runs writers, readers and purgers at two gateways, one of which may be killed meanwhile. No reader may
 * get a version older than a write acknowledged before its request, a part instead of the whole, or parts
 * of several versions. Throws AssertionError.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreKind } from '../../flows/flow.ts';
import { until } from '../../parts/process.ts';
import { type Dice, dice, pick } from '../dice.ts';
import { type Gateways, startGateways } from './gateways.ts';
import { hasTag, Library, pathOf, TAGS, TARGETS, type Version, versionOf } from './library.ts';
import { reading, wrong } from './reading.ts';

/**
 * The size of a schedule: its steps, how many run at once, and the longest pause of an actor in
 * milliseconds.
 */
const STEPS = 150;
const WIDTH = 16;
const PAUSE = 6;
/** One of KILLS schedules kills a gateway. */
const KILLS = 2;
const VERSIONS_KNOWN = 20;
/** One of UNAWARE readers asks the killed gateway. */
const UNAWARE = 8;
/**
 * Most steps use one target, which is replaced after about HOT steps. One of OTHERS steps uses any target.
 */
const HOT = 40;
const OTHERS = 4;

const GATEWAYS = [0, 1] as const;
const UNSAFE = ['PUT', 'POST', 'PATCH', 'DELETE'] as const;
const REFUSALS: ReadonlySet<number> = new Set([502, 503, 504]);

/** Totals of all schedules. */
export interface Tally {
  schedules: number;
  kills: number;
  /** Complete answers to readers; `hits` are answers from a cache. */
  read: number;
  hits: number;
  /** `broken`: answers that broke off or never came; `refused`: answers 502, 503 and 504. */
  broken: number;
  refused: number;
  /** Acknowledged writes. */
  written: number;
  purged: number;
  banned: number;
}

export interface Scheduling {
  readonly seed: number;
  readonly schedules: number;
  readonly progress?: (tally: Tally) => void;
}

export async function runSchedules(
  kind: StoreKind,
  { seed, schedules, progress }: Scheduling,
): Promise<Tally> {
  await using parts = new AsyncDisposableStack();
  const library = parts.use(new Library(dice(seed + 1)));
  const gateways = parts.use(await startGateways(kind, await library.start()));
  const tally: Tally = {
    schedules: 0,
    kills: 0,
    read: 0,
    hits: 0,
    broken: 0,
    refused: 0,
    written: 0,
    purged: 0,
    banned: 0,
  };
  const actors = new Actors(gateways, library, tally);
  while (tally.schedules < schedules) {
    const roll = dice(seed * 1_000_003 + tally.schedules);
    await schedule(roll, actors, tally);
    tally.schedules += 1;
    assert.deepEqual(actors.wrong, [], `schedule ${tally.schedules}, seed ${seed}, ${kind}`);
    progress?.(tally);
  }
  return tally;
}

async function schedule(roll: Dice, actors: Actors, tally: Tally): Promise<void> {
  const killedAt = roll(KILLS) === 0 ? roll(STEPS) : undefined;
  const victim = pick(roll, GATEWAYS);
  const steps = Array.from({ length: STEPS }, (_, step) => step).values();
  async function lane(): Promise<void> {
    for (const step of steps) {
      if (step === killedAt) await actors.kill(victim);
      else await actors.act(roll);
      await sleep(roll(PAUSE));
    }
  }
  await Promise.all(Array.from({ length: 1 + roll(WIDTH) }, lane));
  if (killedAt !== undefined) {
    tally.kills += 1;
    await actors.restart(victim);
  }
  for (const gateway of GATEWAYS) {
    for (const target of TARGETS) await actors.read(roll, target, gateway);
  }
}

class Actors {
  /** Descriptions of wrong answers to readers. */
  readonly wrong: string[] = [];
  readonly #gateways: Gateways;
  readonly #library: Library;
  readonly #tally: Tally;
  /** The oldest version of each target that a reader may get from now on. */
  readonly #floors = TARGETS.map(() => 0);
  /** The most recent versions of each target that readers have seen. */
  readonly #known: Version[][] = TARGETS.map(() => []);
  #dead: number | undefined;
  #hot = 0;

  constructor(gateways: Gateways, library: Library, tally: Tally) {
    this.#gateways = gateways;
    this.#library = library;
    this.#tally = tally;
  }

  async kill(gateway: number): Promise<void> {
    this.#dead = gateway;
    await this.#gateways.kill(gateway);
  }

  async restart(gateway: number): Promise<void> {
    // For a moment another process's connection may use the gateway's port.
    await until(async () => {
      await this.#gateways.restart(gateway);
      return true;
    });
    this.#dead = undefined;
  }

  async act(roll: Dice): Promise<void> {
    const target = roll(OTHERS) === 0 ? roll(TARGETS.length) : this.#hot;
    if (roll(HOT) === 0) this.#hot = roll(TARGETS.length);
    const chosen = pick(roll, GATEWAYS);
    const gateway = chosen === this.#dead && roll(UNAWARE) > 0 ? 1 - chosen : chosen;
    const what = roll(100);
    if (what < 85) await this.read(roll, target, gateway);
    else if (what < 92) await this.#write(roll, target, gateway);
    else if (what < 97) await this.#purge(roll, target, gateway);
    else await this.#ban(roll, gateway);
  }

  async read(roll: Dice, target: number, gateway: number): Promise<void> {
    const known = this.#known[target] ?? [];
    const asked = reading(roll, target, this.#floors[target] ?? 0, known);
    const reply = await this.#gateways.ask(gateway, asked);
    if (!this.#isAnswered(reply)) return;
    const now = this.#library.version(target);
    const why = wrong(asked, reply, now);
    const hit = reply.fields['cache-status']?.includes('; hit') === true;
    if (why !== undefined) {
      const { method, fields } = asked;
      const told = reply.fields['cache-status'];
      const where = `${method} ${asked.path} ${JSON.stringify(fields)} at ${gateway} (${told})`;
      this.wrong.push(`${where}: ${why}; now ${now}`);
    }
    this.#tally.read += 1;
    if (hit) this.#tally.hits += 1;
    const version = versionOf(reply.fields['etag']);
    if (version !== undefined) known.push(version);
    if (known.length > VERSIONS_KNOWN) known.shift();
  }

  async #write(roll: Dice, target: number, gateway: number): Promise<void> {
    const asked = { method: pick(roll, UNSAFE), path: pathOf(target), fields: {}, content: 'new' };
    const reply = await this.#gateways.ask(gateway, asked);
    if (!this.#isAnswered(reply) || reply.status === 409) return;
    if (reply.status !== 200) return this.#unexpected(asked.method, reply.status);
    this.#acknowledged(target, Number(reply.fields['version']));
    this.#tally.written += 1;
  }

  async #purge(roll: Dice, target: number, gateway: number): Promise<void> {
    const version = this.#library.change(target);
    const asked = { method: 'PURGE', path: pathOf(target), fields: softly(roll) };
    const reply = await this.#gateways.ask(gateway, asked);
    if (!this.#isAnswered(reply)) return;
    // A 404 means that this process had no entry; entries of other processes are invalidated all the same.
    if (![200, 404].includes(reply.status)) return this.#unexpected('PURGE', reply.status);
    this.#acknowledged(target, version);
    this.#tally.purged += 1;
  }

  /** Bans by a tag or by a pattern that matches all targets. */
  async #ban(roll: Dice, gateway: number): Promise<void> {
    const tag = roll(3) === 0 ? undefined : pick(roll, TAGS);
    const banned = TARGETS.filter((target) => tag === undefined || hasTag(tag, target));
    const versions = banned.map((target) => [target, this.#library.change(target)] as const);
    const rule = tag === undefined ? 'path="/t*"' : `tag="${tag}"`;
    const fields = { ...softly(roll), Ban: rule };
    const reply = await this.#gateways.ask(gateway, { method: 'BAN', path: '', fields });
    if (!this.#isAnswered(reply)) return;
    if (reply.status !== 200) return this.#unexpected('BAN', reply.status);
    for (const [target, version] of versions) this.#acknowledged(target, version);
    this.#tally.banned += 1;
  }

  #acknowledged(target: number, version: number): void {
    this.#floors[target] = Math.max(this.#floors[target] ?? 0, version);
  }

  #isAnswered(reply: Awaited<ReturnType<Gateways['ask']>>): reply is NonNullable<typeof reply> {
    if (reply === undefined) this.#tally.broken += 1;
    else if (REFUSALS.has(reply.status)) this.#tally.refused += 1;
    else return true;
    return false;
  }

  #unexpected(method: string, status: number): void {
    this.wrong.push(`${method} was answered ${status}`);
  }
}

/** Some purges only mark answers as stale, so that the cache revalidates them before reuse. */
const softly = (roll: Dice): Readonly<Record<string, string>> =>
  roll(3) === 0 ? { 'Soft-Purge': '?1' } : {};
