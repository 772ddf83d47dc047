import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Http2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { fairShare } from '#shared/base/counts.js';
import { customerOf, normalAddress, siteOf, type TrustedProxies } from '#shared/http/forwarded.ts';
import { portion } from '#shared/base/workers.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';

/**
 * THE rule of how many connections one address may hold. A process limits the connections of all its listeners
 * together: in total, and from one address. With several workers each worker has its portion. The more connections
 * other addresses hold, the fewer one address may hold (`fairShare` in shared/base/counts.js). The same applies to an
 * IPv6 network of 48 bits. Connections through a trusted proxy use up only the total. At most half of the files that
 * the system allows a process are for connections, and an eighth for those of one address. The remaining files are
 * for requests that open files.
 */
export class Admission {
  readonly #total: number;
  readonly #each: number;
  readonly #trusted: TrustedProxies;
  readonly #from = new Map<string, number>();
  readonly #sites = new Map<string, number>();
  readonly #beside = new Map<string, number>();
  #open = 0;

  constructor(
    { total, address }: ServerLimits['connections'],
    trusted: TrustedProxies,
    files = mostFiles(),
  ) {
    this.#total = Math.min(portion(total), Math.floor(files / 2));
    this.#each = Math.min(portion(address), Math.floor(files / 8));
    this.#trusted = trusted;
  }

  /**
   * Returns why a connection is refused. Undefined if it is accepted; it then uses up the limits until it is closed.
   */
  refusal(socket: Socket): string | undefined {
    if (this.#open >= this.#total) return 'too many connections';
    const address = this.#addressOf(socket);
    if (address !== undefined) {
      const [customer, site] = [customerOf(address), siteOf(address)];
      const ofSite = this.#sites.get(site) ?? 0;
      if ((this.#from.get(customer) ?? 0) >= this.#each || ofSite >= this.#shareOf(ofSite)) {
        return 'too many connections from one address';
      }
      count(this.#from, customer, socket);
      count(this.#sites, site, socket);
    }
    this.#open += 1;
    socket.once('close', () => (this.#open -= 1));
    return undefined;
  }

  /**
   * Returns true if a request may begin beside other requests of its connection (streams of HTTP/2, pipelined
   * requests of HTTP/1.1). It then uses up the limit until it ends. One address may have as many such requests as
   * connections: otherwise each connection could carry a hundred requests whose answers are never read.
   */
  takes(one: Http2Stream | ServerResponse, socket: Pick<Socket, 'remoteAddress'>): boolean {
    const address = this.#addressOf(socket);
    if (address === undefined) return true;
    if (!this.#hasRoom(address)) return false;
    count(this.#beside, customerOf(address), one);
    return true;
  }

  /** True if `takes` would return true. */
  wouldTake(socket: Pick<Socket, 'remoteAddress'>): boolean {
    const address = this.#addressOf(socket);
    return address === undefined || this.#hasRoom(address);
  }

  #hasRoom(address: string): boolean {
    return (this.#beside.get(customerOf(address)) ?? 0) < this.#each;
  }

  /** Returns how many one customer may have of those that other customers do not use. */
  #shareOf(own: number): number {
    return fairShare(this.#each, this.#total, this.#open - own);
  }

  /** Returns the address; undefined for a trusted proxy. */
  #addressOf({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string | undefined {
    if (this.#trusted.has(remoteAddress)) return undefined;
    return normalAddress(remoteAddress) ?? remoteAddress;
  }
}

type Closing = Socket | Http2Stream | ServerResponse;

/** Counts a connection or stream of a customer until it is closed. */
function count(held: Map<string, number>, customer: string, one: Closing): void {
  held.set(customer, (held.get(customer) ?? 0) + 1);
  one.once('close', () => {
    const left = (held.get(customer) ?? 0) - 1;
    if (left === 0) held.delete(customer);
    else held.set(customer, left);
  });
}

/** Returns how many files this process may open, including connections; Infinity if the system does not say. */
function mostFiles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +([0-9]+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity; // not Linux
  }
}
