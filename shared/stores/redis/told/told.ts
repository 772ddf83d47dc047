import { setTimeout as sleep } from 'node:timers/promises';
import { forAll } from '#shared/base/for-all.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import { within } from '#shared/base/within.ts';
import { boundedWaiting } from '../../outage/waiting.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { FOLLOWED, type FollowedTable } from '../../revocation/followed.ts';
import { type Connection, evalScript } from '../connection/connection.ts';
import type { Wire } from '../connection/topology.ts';
import { begin, behind, type Entries, tell } from './scripts.ts';

/** The tables whose new rows all servers must know at once. */
const TOLD = Object.keys(FOLLOWED) as FollowedTable[];
type Lasts = Readonly<Record<FollowedTable, number>>;
export type ToldRow = readonly [seq: number, ...columns: unknown[]];

const NONE: Lasts = { revocation: 0, invalidation: 0 };
const lastsOf = (revocation: unknown, invalidation: unknown): Lasts => ({
  revocation: Number(revocation),
  invalidation: Number(invalidation),
});

/** Rows of a table in their order, and the last number that was ever given by then. */
interface Rows {
  readonly last: number;
  readonly rows: readonly ToldRow[];
}

/** PostgreSQL as Redis needs it. */
export interface ToldRecord {
  /**
   * Writes durably that this run of Redis is current. Resolves to the state of PostgreSQL at that time. Rejects if
   * another run has replaced this run, unless the data of Redis come from the replacing run (`from`), as with a slot of
   * a Cluster that comes back.
   */
  claim(
    run: string,
    from: string | null,
  ): Promise<{
    /** Empty: no epoch yet. */
    readonly epoch: string;
    readonly lasts: Lasts;
    /** True if no other run was ever current. */
    readonly isFirst: boolean;
  }>;
  /** Call this if PostgreSQL lacks rows of this epoch that Redis has. It always throws `StoreUnavailable`. */
  forgotten(epoch: string): void;
  /** Resolves to the id of the store in PostgreSQL, the current run, and the last numbers. */
  state(): Promise<{
    readonly id: string;
    readonly run: string | undefined;
    readonly lasts: Lasts;
  }>;
  /** Resolves to at most `most` rows after a number. */
  behind(table: FollowedTable, seq: number, most: number): Promise<Rows>;
}

/** A run of Redis that was compared with PostgreSQL. */
interface Compared {
  readonly wire: Wire;
  readonly run: string;
  readonly epoch: string;
  /** Identifies the data in Redis: a new value after each beginning. */
  readonly memory: string;
  /** The time of `monotonic()` from when no process trusts the previous run. */
  readonly from: number;
}

export interface ToldOptions {
  readonly redis: Connection;
  readonly prefix: string;
  readonly record: ToldRecord;
  readonly random: Random;
  monotonic(): number;
  /** Milliseconds after which an answer may come from a replaced server. */
  readonly longest: number;
}

/** Milliseconds after which a verdict checks which run is current. So long a new run acknowledges nothing. */
const UNSEEN = 1_000;

/** Most rows of one script, and of a stream. A server that is further behind reads PostgreSQL. */
const MOST = 1_000;

/**
 * Publishes to all servers through Redis which rows of PostgreSQL are new, and reads these rows. PostgreSQL stays the
 * source of truth: this process trusts a run of Redis only after it has compared the run with PostgreSQL. Redis need
 * not get rows from before the comparison, since servers that lack these rows read PostgreSQL.
 */
export class Told {
  readonly #options: ToldOptions;
  readonly #hash: string;
  readonly #waiting = boundedWaiting();
  readonly #ask = forAll(() => this.#question());
  readonly #tell: Readonly<Record<FollowedTable, () => Promise<void>>>;
  /** The runs that this process reads and writes, each with its own connection. */
  #asked: Compared | undefined;
  #told: Compared | undefined;
  /** The last number of each table in Redis, as far as this process knows. */
  readonly #reached: Record<FollowedTable, number> = { ...NONE };
  /** Compares again if another run is current; publishes rows of other processes. Rejects if PostgreSQL is silent. */
  readonly recheck = forAll(() => this.#recheck());
  /** The time of `monotonic()` at the last look at PostgreSQL; Infinity: it does not answer, so Redis alone decides. */
  #seen = -Infinity;
  /** The last numbers at the last look at PostgreSQL. */
  #recorded = NONE;
  #answer: { readonly epoch: string; readonly lasts: Lasts; readonly asked: number } | undefined;

  constructor(options: ToldOptions) {
    this.#options = options;
    this.#hash = `{${options.prefix}}:told`;
    this.#tell = {
      revocation: forAll(() => this.#tellNew('revocation')),
      invalidation: forAll(() => this.#tellNew('invalidation')),
    };
  }

  /** Resolves if Redis has this record in the current run. Otherwise rejects with the reason. */
  async check(): Promise<void> {
    await this.#ask();
  }

  /** Resolves when all servers know every row that had its number before the call. */
  tell(table: FollowedTable): Promise<void> {
    return this.#waiting(this.#tell[table]);
  }

  /** False from the loss or replacement of Redis until the next comparison with PostgreSQL. */
  get isCompared(): boolean {
    return this.#asked !== undefined;
  }

  /** The time of `monotonic()` at which a table had no row after `seq`; -Infinity: unknown. */
  confirmed(table: FollowedTable, epoch: string, seq: number): number {
    const { epoch: its, lasts, asked } = this.#answer ?? {};
    return its === epoch && lasts?.[table] === seq && asked !== undefined ? asked : -Infinity;
  }

  /** Resolves to the rows after `seq`, with all that were acknowledged before the call; undefined: read PostgreSQL. */
  async behind(table: FollowedTable, epoch: string, seq: number): Promise<Rows | undefined> {
    if (this.#options.monotonic() - this.#seen > UNSEEN) await this.recheck().catch(() => {});
    const { epoch: its, lasts } = await this.#waiting(this.#ask);
    if (its !== epoch || lasts[table] < Math.max(seq, this.#recorded[table])) return undefined;
    const rows = lasts[table] === seq ? [] : await this.#rows(table, seq);
    return rows && { last: Math.max(lasts[table], rows.at(-1)?.[0] ?? 0), rows };
  }

  async #recheck(): Promise<void> {
    const { record, monotonic } = this.#options;
    const before = this.#recorded;
    const began = monotonic();
    const { run, lasts } = await record.state().catch((error: unknown) => {
      this.#seen = Infinity;
      throw error;
    });
    this.#seen = began;
    if (run !== this.#asked?.run) this.#forget();
    this.#recorded = lasts;
    for (const table of TOLD) {
      // The other process had the time of a look.
      const isUntold = this.#answer !== undefined && this.#answer.lasts[table] < before[table];
      if (isUntold) this.tell(table).catch(() => {});
    }
  }

  async #question() {
    const { redis, monotonic, longest } = this.#options;
    const asked = monotonic();
    const answer = await redis.onOwner(this.#hash, async (wire) => {
      for (;;) {
        const compared = await this.#comparedAs('asked', wire);
        const command = ['HMGET', this.#hash, 'memory', ...TOLD];
        const found = await within(longest, wire.send<(string | null)[]>(this.#hash, command));
        const [memory, revocation, invalidation] = found;
        if (memory === compared.memory) {
          return { epoch: compared.epoch, lasts: lastsOf(revocation, invalidation), asked };
        }
        this.#forget();
      }
    });
    this.#answer = answer;
    return answer;
  }

  async #rows(table: FollowedTable, seq: number): Promise<readonly ToldRow[] | undefined> {
    const keys = [this.#hash, this.#stream(table)] as const;
    const entries = await this.#options.redis.onOwner(this.#hash, async (wire) => {
      const { memory } = await this.#comparedAs('asked', wire);
      return evalScript<Entries | null>(wire, behind, keys, [memory, table, String(seq)]);
    });
    return entries?.map(([, [, row = '']]) => JSON.parse(row) as ToldRow);
  }

  /** Publishes to Redis the rows that Redis lacks, whichever process wrote them. */
  async #tellNew(table: FollowedTable): Promise<void> {
    const { redis, record, monotonic } = this.#options;
    const { run, from: since } = await redis.confirmed(this.#hash, async (wire) => {
      for (;;) {
        const compared = await this.#comparedAs('told', wire);
        const from = this.#reached[table];
        const { last, rows } = await record.behind(table, from, MOST);
        if (last < from) {
          this.#forget();
          continue;
        }
        const isAll = rows.length < MOST;
        const upTo = isAll ? last : (rows.at(-1)?.[0] ?? last);
        const reply = await evalScript<string | null>(
          wire,
          tell,
          [this.#hash, this.#stream(table)],
          [compared.memory, table, ...[from, upTo, MOST].map(String), ...rows.flatMap(entryOf)],
        );
        if (reply === null) {
          this.#forget();
          continue;
        }
        this.#reached[table] = Number(reply);
        if (reply === String(upTo) && isAll) return compared;
      }
    });
    const left = since - monotonic();
    if (left > 0) await sleep(left);
    if ((await record.state()).run === run) return;
    this.#forget();
    throw new StoreUnavailable('another server has taken the place of the Redis that was told');
  }

  async #comparedAs(as: 'asked' | 'told', wire: Wire): Promise<Compared> {
    const [known, other] = as === 'asked' ? [this.#asked, this.#told] : [this.#told, this.#asked];
    if (known?.wire === wire && known.epoch !== '') return known;
    const run = await runOf(wire);
    const compared =
      other?.run === run && other.epoch !== ''
        ? { ...other, wire }
        : await this.#compare(wire, run);
    if (as === 'asked') this.#asked = compared;
    else this.#told = compared;
    return compared;
  }

  /** Brings Redis up to date with PostgreSQL. */
  async #compare(wire: Wire, run: string): Promise<Compared> {
    const { record, random, monotonic } = this.#options;
    const keys = [this.#hash, ...TOLD.map((table) => this.#stream(table))] as const;
    let seen = NONE;
    const { id } = await record.state();
    const question = ['HMGET', this.#hash, 'record', 'run'];
    const [its = null, from = null] = await wire.send<(string | null)[]>(this.#hash, question);
    // Checked before the claim, which would end the current run.
    if (its !== null && its !== id) throw anotherRecord(this.#hash);
    for (;;) {
      const { epoch, lasts, isFirst } = await record.claim(run, from);
      const since = isFirst ? -Infinity : monotonic() + UNSEEN;
      if (TOLD.some((table) => lasts[table] < seen[table])) record.forgotten(epoch);
      const [what, memory, revocation, invalidation] = await evalScript<readonly string[]>(
        wire,
        begin,
        keys,
        [
          id,
          epoch,
          randomId(random),
          run,
          ...TOLD.flatMap((table) => [table, String(lasts[table])]),
        ],
      );
      if (what === 'another record') throw anotherRecord(this.#hash);
      const told = lastsOf(revocation, invalidation);
      if (what === 'ahead') {
        // The rows were published after PostgreSQL was read, unless PostgreSQL has lost them.
        seen = told;
        continue;
      }
      Object.assign(this.#reached, told);
      return { wire, run, epoch, memory: memory ?? '', from: since };
    }
  }

  #forget(): void {
    this.#asked = this.#told = undefined;
  }

  #stream(table: FollowedTable): string {
    return `${this.#hash}:${table}`;
  }
}

const entryOf = (row: ToldRow) => [String(row[0]), JSON.stringify(row)];

/** Identifies the process of Redis and its history of writes: a new value after each start and each failover. */
async function runOf(wire: Wire): Promise<string> {
  const info = await Promise.all(
    ['server', 'replication'].map((part) => wire.send<string>('', ['INFO', part])),
  );
  const [run, history] = [/^run_id:(\w+)/m, /^master_replid:(\w+)/m].map(
    (line) => line.exec(info.join('\n'))?.[1],
  );
  if (/^role:slave/m.test(info.join('\n'))) {
    throw new StoreUnavailable('this Redis is a replica: name the master in store.redis.urls');
  }
  if (run === undefined || history === undefined) {
    throw new Error('Redis does not say which run of it this is (INFO server, INFO replication)');
  }
  return `${run} ${history}`;
}

const anotherRecord = (hash: string) =>
  new StoreUnavailable(
    `${hash} in Redis belongs to another store: give each store a prefix of its own (store.redis.prefix)`,
  );
