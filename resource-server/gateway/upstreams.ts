import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { isIP, type Socket } from 'node:net';
import tls, { getCACertificates } from 'node:tls';
import type { Pool } from 'undici';
import type { Clock } from '#shared/base/clock.ts';
import { type UpstreamConfig, upstreamUrls } from '#shared/config/upstream-schema.ts';
import { Places } from './places.ts';

/** Milliseconds in line for an application: who waited for longer would come with a statement that is over. */
const IN_LINE = 10_000;
/** After which a connection without a request is closed, before most applications do (5 s of Node's, 60 of others). */
const IDLE = 4000;
/** So many failures after one another, and nobody is sent there for a while. */
const FAILURES = 3;
const SHORTEST = 1000;
const LONGEST = 30_000;
/** Milliseconds for which nobody is sent there because it asked for that. */
const LONGEST_ASKED = 60_000;

/** One of the places where an application is. */
export class Upstream {
  readonly url: URL;
  /** Undefined: it is not open yet. */
  pool: Pool | undefined;
  readonly agent: http.Agent;
  /** Connections for one request each. */
  readonly once: http.Agent;
  /** For pool and agents together, in neither of which anybody waits. */
  readonly places: Places;
  /** A connection that nobody else has, of which either side may end first. */
  readonly connect: () => Socket;
  /** Exchanges under way. */
  busy = 0;
  readonly #openPool: () => Promise<Pool>;
  #opening: Promise<Pool> | undefined;
  #failures = 0;
  #until = -Infinity;
  #askedUntil = -Infinity;

  constructor(url: string, config: UpstreamConfig) {
    const { connections, timeout, tls: own } = config;
    this.url = new URL(url);
    const ca = own.ca === undefined ? undefined : [...getCACertificates(), readFileSync(own.ca)];
    const { hostname, port } = this.url;
    const host = hostname.replaceAll(/[[\]]/g, '');
    // Never by what the request has in Host. RFC 6066 section 3: no address.
    const servername = own.name ?? (isIP(host) === 0 ? host : '');
    const secure = { ...(ca && { ca }), servername };
    this.places = new Places(connections, Math.min(timeout * 1000, IN_LINE));
    this.#openPool = async () => {
      const { openPool } = await import('./pool.ts');
      return (this.pool = openPool({ url: this.url, config, secure, idle: IDLE }));
    };
    const agent = (keepAlive: boolean) => {
      const common = { keepAlive, maxSockets: connections, timeout: IDLE };
      return this.url.protocol === 'https:'
        ? new https.Agent({ ...common, ...secure })
        : new http.Agent(common);
    };
    this.agent = agent(true);
    this.once = agent(false);
    const alone = { host, allowHalfOpen: true, noDelay: true };
    this.connect =
      this.url.protocol === 'https:'
        ? () => tls.connect({ port: Number(port || 443), ...alone, ...secure })
        : () => net.connect({ port: Number(port || 80), ...alone });
  }

  /** Opens the pool. Its module is loaded with the first one: that takes longer than all else here. */
  open(): Promise<Pool> {
    return (this.#opening ??= this.#openPool());
  }

  worked(): void {
    this.#failures = 0;
    this.#until = -Infinity;
  }

  failed(now: number): void {
    this.#failures += 1;
    if (this.#failures < FAILURES) return;
    const times = 2 ** Math.min(this.#failures - FAILURES, 10);
    this.#until = now + Math.min(SHORTEST * times, LONGEST);
  }

  /** It wants to be left alone; what it has begun it goes on with. */
  leaveAlone(milliseconds: number, now: number): void {
    this.#askedUntil = now + Math.min(milliseconds, LONGEST_ASKED);
  }

  /** Milliseconds until it is asked again; none where it works. */
  rest(now: number): number {
    return Math.max(0, Math.min(this.#until - now, LONGEST)); // a clock may be set back
  }

  /** Whether it wants to be left alone. */
  asksRest(now: number): boolean {
    return this.#askedUntil > now && this.#askedUntil - now <= LONGEST_ASKED;
  }
}

/** All places of an application. */
export class Upstreams {
  readonly all: readonly Upstream[];
  readonly #clock: Clock;
  #turn = 0;

  constructor(config: UpstreamConfig, clock: Clock) {
    this.all = upstreamUrls(config).map((url) => new Upstream(url, config));
    this.#clock = clock;
  }

  /**
   * The least busy of those that work, by turns, and first of those that do not want to be left alone; of those that do
   * not work the one that has rested longest.
   */
  pick(not?: Upstream): Upstream {
    const [first] = this.all;
    if (first === undefined) throw new Error('a space serves an upstream without a URL');
    if (this.all.length === 1) return first;
    const now = this.#clock.now();
    this.#turn = (this.#turn + 1) % this.all.length;
    const inTurn = [...this.all.slice(this.#turn), ...this.all.slice(0, this.#turn)];
    const others = inTurn.filter((one) => one !== not);
    const by = (one: Upstream) => one.rest(now) * 1e7 + (one.asksRest(now) ? 1e6 : 0) + one.busy;
    return others.reduce((best, one) => (by(one) < by(best) ? one : best));
  }
}
