import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#shared/base/clock.ts';
import { oncePerTurn } from '#shared/base/turn.ts';
import { RevocationSet } from '../revocation-set.ts';
import type { RevocationFeed, RevocationStatus, RevocationView } from '../revocations.ts';
import { StoreUnavailable } from '../stores.ts';
import { Connection } from './connection.ts';
import { orUnavailable } from './file.ts';
import { STATE } from './state.ts';

const PAGE = 1_000;
/** Pages that one look reads of what is read from its start: all at once would hold all requests up. */
const SLICE = 10;
/** Milliseconds between two looks at whether the file is still the same one, with the same memory. */
const VERIFY_EVERY = 1_000;

type Row = readonly [
  seq: number,
  until: number,
  ...(
    | [kind: 'token' | 'grant' | 'key', id: string, generation: null]
    | [kind: 'person' | 'client', id: string, generation: number]
  ),
];

/**
 * Follows the revocation table. Every `current()` looks for new rows (about 2 us), and `latest()`
 * once for all requests that are handled together, so a revocation that was acknowledged before a request came is
 * in that request's view.
 */
export class SqliteFeed implements RevocationFeed {
  readonly latest = oncePerTurn(() => this.current());
  readonly #path: string;
  readonly #clock: Clock;
  readonly #set = new RevocationSet();
  readonly #listeners: ((kid: string) => void)[] = [];
  #connection: Connection | undefined;
  #cursor = 0;
  /** From its start on, not everything was read yet. */
  #behind = true;
  #trusted = false;
  #closed = false;
  #heard: number;
  #verified: number;

  private constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    this.#heard = this.#verified = clock.now();
  }

  /** Resolves when all is read, or cannot be read now. */
  static async open(path: string, clock: Clock): Promise<SqliteFeed> {
    const feed = new SqliteFeed(path, clock);
    for (let read = -1; feed.#behind && feed.#cursor > read; await setImmediate()) {
      read = feed.#cursor;
      feed.#tryToLook();
    }
    return feed;
  }

  current(): RevocationView {
    if (this.#closed) throw new StoreUnavailable('the revocation feed is closed');
    try {
      orUnavailable(this.#path, () => this.#look());
    } catch (error) {
      this.#trusted = false;
      throw error;
    }
    return this.#set;
  }

  onKeyRevoked(listener: (kid: string) => void): void {
    this.#listeners.push(listener);
  }

  status(): RevocationStatus {
    this.#tryToLook();
    return {
      entries: this.#set.size,
      epoch: this.#set.epoch,
      cursor: String(this.#cursor),
      silence: this.#clock.now() - this.#heard,
      trusted: this.#trusted,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#trusted = false;
    this.#disconnect();
  }

  #tryToLook(): void {
    try {
      this.current();
    } catch {
      // `trusted` says so.
    }
  }

  #look(): void {
    const now = this.#clock.now();
    // The distance, not the difference: a clock that was set back must not stop the verification.
    if (!this.#trusted || Math.abs(now - this.#verified) >= VERIFY_EVERY) this.#verify(now);
    this.#read();
    this.#heard = now;
    this.#trusted = true;
  }

  /**
   * Reads all again when the file is another one, has another epoch or is behind the cursor (both:
   * restored in place). What is known already stays: memory is merged, never replaced.
   */
  #verify(now: number): void {
    if (this.#connection?.moved) this.#disconnect();
    const connection = this.#connected();
    const epoch = connection.all<[id: string]>('SELECT id FROM epoch')[0]?.[0];
    if (epoch === undefined) {
      throw new StoreUnavailable('the store has no epoch: no authorization server has used it yet');
    }
    const [last] = connection.all<[seq: number]>(
      "SELECT seq FROM sqlite_sequence WHERE name = 'revocation'",
    );
    if (epoch !== this.#set.epoch || (last?.[0] ?? 0) < this.#cursor) this.#restart();
    this.#set.epoch = epoch;
    this.#set.sweep(now);
    this.#verified = now;
  }

  #read(): void {
    let rows: Row[];
    let pages = 0;
    do {
      if (this.#behind && pages === SLICE) {
        throw new StoreUnavailable('the revocations are still being read');
      }
      rows = this.#connected().all<Row>(
        `SELECT seq, until, kind, id, generation FROM revocation
         WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`,
        this.#cursor,
      );
      for (const row of rows) this.#apply(row);
      pages += 1;
    } while (rows.length === PAGE);
    this.#behind = false;
  }

  #apply([seq, until, kind, id, generation]: Row): void {
    const raised = kind === 'person' || kind === 'client';
    this.#set.apply(raised ? { kind, id, generation } : { kind, id }, until);
    if (kind === 'key') for (const listener of this.#listeners) listener(id);
    this.#cursor = seq;
  }

  #connected(): Connection {
    this.#connection ??= new Connection(this.#path, STATE, { create: false });
    return this.#connection;
  }

  #disconnect(): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
    this.#restart();
  }

  #restart(): void {
    this.#cursor = 0;
    this.#behind = true;
  }
}
