import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { within } from '#shared/base/within.ts';
import { RevocationSet } from '#shared/stores/revocation/revocation-set.ts';
import type {
  RevocationFeed,
  RevocationStatus,
  RevocationView,
} from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { evalScript } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { forAll } from '#shared/base/for-all.ts';
import { precedes } from '../../revocation/feed-position.ts';
import { boundedWaiting } from '../../outage/waiting.ts';
import { type Answer, type Beside, COUNT, look, question } from './feed-questions.ts';
import { STREAM_START, streamEntry } from './revocation-stream.ts';
import type { Entries, EntryId } from './revocation-stream.ts';
import type { Wire } from '../connection/topology.ts';

/** Milliseconds that Redis holds back an empty answer. */
const BLOCK = 500;
/** Milliseconds of silence, beyond those for an answer, after which the view is not trusted. */
const SILENCE = 200;
/** Milliseconds before the first attempt to reconnect; doubled up to the longest. */
const PAUSE = { first: 50, longest: 400 };
/** Milliseconds between two sweeps of the set. */
const SWEEP = 1_000;

const unknown = () => new StoreUnavailable('the revocations in Redis are not known');

export interface FeedOptions {
  /** Opens a connection of the feed's own to the server that owns the stream. */
  open(life: AbortSignal): Promise<Wire>;
  /** Where questions are asked while that connection waits for entries. */
  readonly redis: Pick<Connection, 'script'>;
  readonly stream: string;
  readonly epoch: string;
  /** Says which entries have ended. */
  readonly clock: Clock;
  /** Milliseconds of a clock that nobody sets; silence is measured with it. */
  monotonic(): number;
  /** Milliseconds for any answer; must be more than `BLOCK`. */
  readonly deadline: number;
  /** Whether a server may answer that was replaced: then a verdict needs what the feed's own connection says, too. */
  readonly replaceable: boolean;
  /** Called when the server has lost what it had, or another one answers that has something else. */
  forgotten(): void;
  readonly log: Log;
}

/**
 * Follows the stream of revocations on a connection of its own, and for a verdict asks for what that
 * connection was not sent yet: entries are pushed to a waiting reader only, and it is not always waiting.
 */
export class RedisFeed implements RevocationFeed {
  /** Resolves when the stream was read to its end, or could not be for the first time. */
  readonly started: Promise<void>;
  /** Further streams that the questions for verdicts ask for as well. */
  readonly beside = new Set<Beside>();
  readonly #options: FeedOptions;
  readonly #set = new RevocationSet();
  readonly #listeners: ((kid: string) => void)[] = [];
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;
  #cursor: EntryId = STREAM_START;
  /** As far as the questions for verdicts have read; their connection is another. */
  #asked: EntryId = STREAM_START;
  #heard = -Infinity;
  #swept = -Infinity;
  #start = () => {};
  /** Begins after the question under way, which may have been answered before this one came up. */
  readonly #ask = forAll(() => this.#catchUp());
  readonly #waiting = boundedWaiting();

  constructor(options: FeedOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.started = promise;
    this.#start = resolve;
    this.#ended = this.#run();
  }

  current(): RevocationView {
    if (!this.#trusted) throw unknown();
    return this.#set;
  }

  async latest(): Promise<RevocationView> {
    await this.#waiting(this.#ask);
    if (!this.#sure) throw unknown();
    return this.#set;
  }

  onKeyRevoked(listener: (kid: string) => void): void {
    this.#listeners.push(listener);
  }

  status(): RevocationStatus {
    return {
      entries: this.#set.size,
      epoch: this.#set.epoch,
      cursor: this.#cursor,
      silence: this.#silence,
      trusted: this.#trusted,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#ended;
  }

  get closed(): boolean {
    return this.#end.signal.aborted;
  }

  get #silence(): number {
    return this.#options.monotonic() - this.#heard;
  }

  /** Whether all of this epoch's entries up to some moment are known. */
  get #complete(): boolean {
    return !this.closed && this.#set.epoch !== undefined && this.#heard > -Infinity;
  }

  get #trusted(): boolean {
    return this.#complete && this.#silence < this.#options.deadline + SILENCE;
  }

  /** Whether what was answered a moment ago is a verdict. */
  get #sure(): boolean {
    return this.#options.replaceable ? this.#trusted : this.#complete;
  }

  async #run(): Promise<void> {
    let pause = PAUSE.first;
    while (!this.#end.signal.aborted) {
      const life = new AbortController();
      try {
        const open = this.#options.open(AbortSignal.any([life.signal, this.#end.signal]));
        const wire = await within(this.#options.deadline, open);
        // Another server may have other entries under the same ids: merged from the first again.
        this.#cursor = STREAM_START;
        for (;;) {
          await this.#round(wire);
          pause = PAUSE.first;
        }
      } catch (error) {
        this.#start();
        if (this.#end.signal.aborted) return;
        this.#options.log.warn('revocations.interrupted', { reason: String(error) });
      } finally {
        life.abort();
      }
      await sleep(pause, undefined, { signal: this.#end.signal }).catch(() => {});
      pause = Math.min(pause * 2, PAUSE.longest);
    }
  }

  /** Compares the stream with what is known of it, then waits for more. */
  async #round(wire: Wire): Promise<void> {
    const { stream, epoch } = this.#options;
    const looked = evalScript<[string | null, EntryId]>(wire, look, [stream, epoch]);
    const [found, last] = await within(this.#options.deadline, looked);
    if (found !== (this.#set.epoch ?? null) || precedes(last, this.#cursor)) {
      if (this.#set.epoch !== undefined) this.#options.forgotten();
      this.#heard = -Infinity;
      this.#cursor = STREAM_START;
      this.#set.epoch = found ?? undefined;
    }
    if (last === this.#cursor) this.#caughtUp();
    const entries = await within(this.#options.deadline, this.#read(wire));
    const sameEpoch = this.#apply(entries);
    this.#cursor = entries.at(-1)?.[0] ?? this.#cursor;
    if (!sameEpoch) this.#heard = -Infinity;
    else if (entries.length < COUNT) this.#caughtUp();
  }

  async #catchUp(): Promise<void> {
    const { redis, stream, epoch, clock } = this.#options;
    for (;;) {
      const asked = clock.monotonic();
      const beside = [...this.beside];
      const asking = question({ stream, epoch, cursor: this.#asked }, beside);
      const [found, last, entries, ...others] = await redis.script<Answer>(...asking);
      if (found === null || found !== this.#set.epoch || !this.#apply(entries ?? [])) {
        throw new StoreUnavailable('Redis has lost its memory; what it has now is being read');
      }
      for (const [n, [end, theirs]] of others.entries()) {
        const answer = { epoch: found, end, entries: theirs };
        beside[n]?.take({ ...answer, asked: this.#sure ? asked : -Infinity });
      }
      const complete = entries !== null && entries.length < COUNT;
      this.#asked = complete ? last : (entries?.at(-1)?.[0] ?? STREAM_START);
      if (complete) return;
    }
  }

  /** False when the entries tell of another epoch. */
  #apply(entries: Entries): boolean {
    let sameEpoch = true;
    for (const [, fields] of entries) {
      const entry = streamEntry(fields);
      if (entry.kind === 'epoch') sameEpoch = entry.id === this.#set.epoch;
      else this.#set.apply(entry, entry.until);
      if (entry.kind === 'key') for (const listener of this.#listeners) listener(entry.id);
    }
    return sameEpoch;
  }

  /** The entries after the cursor; none when there are none for `BLOCK` milliseconds. */
  async #read(wire: Wire): Promise<Entries> {
    const { stream } = this.#options;
    const options = ['COUNT', String(COUNT), 'BLOCK', String(BLOCK)];
    const reply = await wire.send<[[string, Entries]] | null>(stream, [
      'XREAD',
      ...options,
      'STREAMS',
      stream,
      this.#cursor,
    ]);
    return reply?.[0][1] ?? [];
  }

  /** All that Redis has was applied a moment ago. */
  #caughtUp(): void {
    this.#heard = this.#options.monotonic();
    if (precedes(this.#asked, this.#cursor)) this.#asked = this.#cursor;
    this.#start();
    const now = this.#options.clock.now();
    if (now - this.#swept < SWEEP) return;
    this.#set.sweep(now);
    this.#swept = now;
  }
}
