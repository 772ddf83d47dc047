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

/** The tables whose new rows all must hear of at once. */
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

/** The record that Redis tells of. */
export interface ToldRecord {
  /**
   * Writes that this run of Redis is the one that is told, by a commit that lasts. Resolves to the record as it is then. Rejects
   * where another run has taken the place of this one, unless what Redis has comes from that one (`from`: its last run), as with
   * a slot of a Cluster that comes back.
   */
  claim(
    run: string,
    from: string | null,
  ): Promise<{
    /** Empty: it has none yet. */
    readonly epoch: string;
    readonly lasts: Lasts;
    /** No other run was ever told. */
    readonly isFirst: boolean;
  }>;
  /** The record of that epoch has forgotten what Redis was told. Throws `StoreUnavailable`. */
  forgotten(epoch: string): void;
  /** Which record it is, the run that is told, and how far the record is. */
  state(): Promise<{
    readonly id: string;
    readonly run: string | undefined;
    readonly lasts: Lasts;
  }>;
  /** Resolves to at most `most` rows after a number. */
  behind(table: FollowedTable, seq: number, most: number): Promise<Rows>;
}

/** A run of Redis that was compared with the record. */
interface Compared {
  readonly wire: Wire;
  readonly run: string;
  readonly epoch: string;
  /** Identifies what Redis knows of the record: another one when it was begun again. */
  readonly memory: string;
  /** From when on, of `monotonic()`, nobody believes the run before any more. */
  readonly from: number;
}

export interface ToldOptions {
  readonly redis: Connection;
  readonly prefix: string;
  readonly record: ToldRecord;
  readonly random: Random;
  monotonic(): number;
  /** Milliseconds after which an answer is that of a server that may have been replaced meanwhile. */
  readonly longest: number;
}

/**
 * Milliseconds after which a verdict looks whether another run is told by now, as a process that stood still. So nothing is
 * acknowledged in a run that replaces another one until it is as old.
 */
const UNSEEN = 1_000;

/** Rows of one script, and that Redis keeps of a table. A server that is further behind reads the record. */
const MOST = 1_000;

/**
 * Tells all servers through Redis which rows of the record are new, and asks what was told. The record stays the truth: Redis counts
 * only after the server that answers was compared with it, in that run, by this process. Whatever Redis lacks by then it
 * need not be told: who is behind reads the record.
 */
export class Told {
  readonly #options: ToldOptions;
  readonly #hash: string;
  readonly #waiting = boundedWaiting();
  readonly #ask = forAll(() => this.#question());
  readonly #tell: Readonly<Record<FollowedTable, () => Promise<void>>>;
  /** The server that questions go to, and the one that is told, each by a connection of its own. */
  #asked: Compared | undefined;
  #told: Compared | undefined;
  /** How far each table was told, as far as this process knows. */
  readonly #reached: Record<FollowedTable, number> = { ...NONE };
  /**
   * Compares again where another run is told by now, and tells what some process could not tell. Until that is done, `behind` leaves
   * it to the record. Rejects when the record does not answer.
   */
  readonly recheck = forAll(() => this.#recheck());
  /** When the last look at the record began, of `monotonic()`; Infinity: it does not answer, and a verdict needs Redis alone. */
  #seen = -Infinity;
  /** How far the record was at the last look at it. */
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

  /** Resolves if Redis is told of this record, and is the run that is. Rejects with the reason where it is not. */
  async check(): Promise<void> {
    await this.#ask();
  }

  /** Resolves once all servers hear of every row that had its number before the call. */
  tell(table: FollowedTable): Promise<void> {
    return this.#waiting(this.#tell[table]);
  }

  /** False from when Redis was found to have lost its memory, or to be another one, until it was compared with the record. */
  get isCompared(): boolean {
    return this.#asked !== undefined;
  }

  /** When a table was known to have nothing behind `seq`, of `monotonic()`; -Infinity if that is not known. */
  confirmed(table: FollowedTable, epoch: string, seq: number): number {
    const { epoch: its, lasts, asked } = this.#answer ?? {};
    return its === epoch && lasts?.[table] === seq && asked !== undefined ? asked : -Infinity;
  }

  /**
   * The rows of a table behind `seq`, which hold all that was acknowledged before the call, and the last number by then; undefined
   * where only the record has all of them.
   */
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
      // It had a look's time for that.
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

  /** Tells the rows that Redis has not heard of, whichever process has added them. */
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

  /** Makes Redis know as much as the record. */
  async #compare(wire: Wire, run: string): Promise<Compared> {
    const { record, random, monotonic } = this.#options;
    const keys = [this.#hash, ...TOLD.map((table) => this.#stream(table))] as const;
    let seen = NONE;
    const { id } = await record.state();
    const question = ['HMGET', this.#hash, 'record', 'run'];
    const [its = null, from = null] = await wire.send<(string | null)[]>(this.#hash, question);
    // Before it is claimed: that would end the run of which all others hear.
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
        // Told after the record was read, unless the record has lost what was told.
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

/** Identifies the process that answers, and its history of writes: another one after each start and each failover. */
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
