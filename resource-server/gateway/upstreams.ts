import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { isIP, type Socket } from 'node:net';
import tls, { getCACertificates } from 'node:tls';
import type { Pool } from 'undici';
import type { Clock } from '#shared/base/clock.ts';
import { type UpstreamConfig, upstreamUrls } from '#shared/config/upstream-schema.ts';
import { Places } from './places.ts';

/** Milliseconds for which a request may wait for an application, since its statement would expire afterwards. */
const IN_LINE = 10_000;
/**
 * Milliseconds after which an idle connection is closed, before most applications close it (5 s in Node, 60 s in
 * others).
 */
const IDLE = 4000;
/** Failures in a row after which an instance rests. */
const FAILURES = 3;
const SHORTEST = 1000;
const LONGEST = 30_000;
/** The longest pause in milliseconds that an instance may ask for. */
const LONGEST_ASKED = 60_000;

/** An instance of the application. */
export class Upstream {
  readonly url: URL;
  /** Undefined: the pool is not open yet. */
  pool: Pool | undefined;
  readonly agent: http.Agent;
  /** Connections for a single request each. */
  readonly once: http.Agent;
  /** Limits pool and agents together, so that no request waits in either. */
  readonly places: Places;
  /** Opens a separate connection, whose sides may end independently. */
  readonly connect: () => Socket;
  /** The number of running exchanges. */
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
    // The name comes from the configuration, never from the request's Host. An address is no server name (RFC 6066
    // section 3).
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

  /** Opens the pool. The first call loads its module, which takes longer than everything else here. */
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

  /** Notes that the instance asked for a pause. Its running exchanges continue. */
  leaveAlone(milliseconds: number, now: number): void {
    this.#askedUntil = now + Math.min(milliseconds, LONGEST_ASKED);
  }

  /** Milliseconds until the instance is asked again. Zero if it works. */
  rest(now: number): number {
    return Math.max(0, Math.min(this.#until - now, LONGEST)); // the clock may have been set back
  }

  /** Whether the instance asks for a pause now. */
  asksRest(now: number): boolean {
    return this.#askedUntil > now && this.#askedUntil - now <= LONGEST_ASKED;
  }
}

/** All instances of an application. */
export class Upstreams {
  readonly all: readonly Upstream[];
  readonly #clock: Clock;
  #turn = 0;

  constructor(config: UpstreamConfig, clock: Clock) {
    this.all = upstreamUrls(config).map((url) => new Upstream(url, config));
    this.#clock = clock;
  }

  /**
   * Picks an instance: the least busy of the working ones, in rotation, preferring those without a pause. If none
   * works, the one that rests shortest.
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
