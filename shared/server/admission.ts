import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Http2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { customerOf, normalAddress, type TrustedProxies } from '#shared/http/forwarded.ts';
import { portion } from '#shared/base/workers.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';

/**
 * Which connections a process takes, at all of its listeners together: so many in total, and so many from
 * one address, or its portion of these where it is one of several workers, among whom connections go round. What
 * comes through a trusted proxy counts toward the total alone. Of the files that the
 * system allows a process half are for connections at most, an eighth for those of one address: the other half is in
 * reserve for what requests open.
 */
export class Admission {
  readonly #total: number;
  readonly #each: number;
  readonly #trusted: TrustedProxies;
  readonly #from = new Map<string, number>();
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

  /** Undefined: it is taken, and counts until it is closed. Else why it is not. */
  refusal(socket: Socket): string | undefined {
    const customer = this.#customerAt(socket);
    if (this.#open >= this.#total) return 'too many connections';
    const before = customer === undefined ? 0 : (this.#from.get(customer) ?? 0);
    if (before >= this.#each) return 'too many connections from one address';
    this.#open += 1;
    socket.once('close', () => (this.#open -= 1));
    if (customer !== undefined) count(this.#from, customer, socket);
    return undefined;
  }

  /**
   * Whether a request may begin beside others of its connection, which then counts until it is over: a stream of
   * HTTP/2, or one of HTTP/1.1 before the answers to those before it. As many of one address as it may have
   * connections, since each of those could carry a hundred that are never read.
   */
  takes(one: Http2Stream | ServerResponse, socket: Pick<Socket, 'remoteAddress'>): boolean {
    const customer = this.#customerAt(socket);
    if (customer === undefined) return true;
    if ((this.#beside.get(customer) ?? 0) >= this.#each) return false;
    count(this.#beside, customer, one);
    return true;
  }

  /** Undefined: a trusted proxy. */
  #customerAt({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string | undefined {
    if (this.#trusted.has(remoteAddress)) return undefined;
    return customerOf(normalAddress(remoteAddress) ?? remoteAddress);
  }
}

type Closing = Socket | Http2Stream | ServerResponse;

/** Until it is closed. */
function count(held: Map<string, number>, customer: string, one: Closing): void {
  held.set(customer, (held.get(customer) ?? 0) + 1);
  one.once('close', () => {
    const left = (held.get(customer) ?? 0) - 1;
    if (left === 0) held.delete(customer);
    else held.set(customer, left);
  });
}

/** How many files this process may open, connections among them, where the system tells. */
function mostFiles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +([0-9]+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity; // not Linux
  }
}
