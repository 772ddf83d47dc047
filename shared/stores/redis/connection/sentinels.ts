import { connect } from './connect.ts';
import { plain } from './plain.ts';
import { forAll } from '#shared/base/for-all.ts';
import { within } from '#shared/base/within.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Milliseconds between two questions, and for which an answer is trusted. */
const WATCH = 500;
const TRUST = 1000;

/** The channel on which a sentinel announces another master. */
const SWITCHED = '+switch-master';

interface Kept {
  readonly life: AbortController;
  readonly client: ReturnType<typeof connect>;
}

export interface SentinelOptions {
  readonly urls: readonly string[];
  /** The name of the master set. */
  readonly name: string;
  /** Milliseconds for an answer. */
  readonly deadline: number;
  /** Milliseconds of a clock that no program sets. */
  monotonic(): number;
}

/**
 * The sentinels of a master set, with one connection to each. More than half of them decide which server is the master,
 * so a sentinel that was cut off is outvoted.
 */
export class Sentinels {
  readonly #options: SentinelOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #listeners = new Set<(master: string) => void>();
  #watch: NodeJS.Timeout | undefined;
  /** The last named master, and the time of the question. */
  #named: { readonly master: string; readonly at: number } | undefined;

  /** Asks for the URL of the master. User, password, database and TLS are those of the first URL. */
  readonly master = forAll(() => this.#ask());

  constructor(options: SentinelOptions) {
    this.#options = options;
  }

  /** Asks the sentinels repeatedly until `life` ends, and gives the listener the named master each time. */
  follow(life: AbortSignal, listener: (master: string) => void): void {
    life.throwIfAborted();
    this.#listeners.add(listener);
    this.#watch ??= setInterval(() => this.#look(), WATCH).unref();
    const leave = () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
      for (const url of this.#kept.keys()) this.#drop(url);
    };
    life.addEventListener('abort', leave, { once: true });
  }

  /** Resolves if the sentinels name this master. A server that is cut off from them must not trust it. */
  async confirm(master: string): Promise<void> {
    const { monotonic } = this.#options;
    const fresh = this.#named !== undefined && monotonic() - this.#named.at < TRUST;
    const named = fresh ? this.#named?.master : await this.master();
    if (named !== master) throw new Error('the sentinels name another master');
  }

  #look(): void {
    this.master().catch(() => {});
  }

  async #ask(): Promise<string> {
    const { urls, monotonic } = this.#options;
    if (this.#listeners.size === 0) throw new Error('nobody follows the sentinels any more');
    const at = monotonic();
    const decided = Promise.withResolvers<string>();
    const votes = new Map<string, number>();
    const failures: string[] = [];
    const asked = urls.map(async (url) => {
      try {
        const master = await this.#vote(url);
        const count = (votes.get(master) ?? 0) + 1;
        votes.set(master, count);
        if (count > urls.length / 2) decided.resolve(master);
        else failures.push(`${new URL(url).host} names ${master}`);
      } catch (error) {
        failures.push(plain(error, `the sentinel at ${new URL(url).host}`));
      }
    });
    void Promise.all(asked).then(() =>
      decided.reject(
        new Error(`no majority of the sentinels names a master (${failures.join(', ')})`),
      ),
    );
    const url = new URL(urls[0] ?? '');
    url.host = await decided.promise;
    const master = url.href;
    this.#named = { master, at };
    for (const listener of this.#listeners) listener(master);
    return master;
  }

  /** Resolves to host and port of the master that one sentinel names. */
  async #vote(url: string): Promise<string> {
    const { name, deadline } = this.#options;
    const kept = this.#kept.get(url) ?? this.#connect(url);
    try {
      const client = await within(deadline, kept.client);
      const question = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name];
      const asked = client.sendCommand<[string, string] | null>(question);
      const answer = await within(deadline, asked);
      if (answer === null) throw new Error(`knows no master ${name}`);
      const [host, port] = answer;
      return `${host.includes(':') ? `[${host}]` : host}:${port}`;
    } catch (error) {
      if (this.#kept.get(url) === kept) this.#drop(url);
      throw error;
    }
  }

  #connect(url: string): Kept {
    const life = new AbortController();
    const sentinel = new URL(url);
    sentinel.pathname = '';
    // With version 3 of the protocol, questions and announcements share a connection.
    const options = { RESP: 3, connectTimeout: this.#options.deadline } as const;
    const client = connect(sentinel.href, life.signal, options).then(async (connected) => {
      await connected.subscribe(SWITCHED, () => this.#look());
      return connected;
    });
    const kept = { life, client };
    this.#kept.set(url, kept);
    return kept;
  }

  #drop(url: string): void {
    this.#kept.get(url)?.life.abort();
    this.#kept.delete(url);
  }
}
