import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { customerOf, normalAddress, type TrustedProxies } from '#shared/http/forwarded.ts';
import type { ServerLimits } from './server-limits.ts';

/**
 * Which connections a process takes, at all of its listeners together: so many in total, and so many from
 * one address. What comes through a trusted proxy counts toward the total alone. Of the files that the
 * system allows half are for connections at most, an eighth for those of one address: the other half is in
 * reserve for what requests open.
 */
export class Admission {
  readonly #total: number;
  readonly #each: number;
  readonly #trusted: TrustedProxies;
  readonly #from = new Map<string, number>();
  #open = 0;

  constructor(
    { total, address }: ServerLimits['connections'],
    trusted: TrustedProxies,
    files = mostFiles(),
  ) {
    this.#total = Math.min(total, Math.floor(files / 2));
    this.#each = Math.min(address, Math.floor(files / 8));
    this.#trusted = trusted;
  }

  /** Undefined: it is taken, and counts until it is closed. Else why it is not. */
  refusal(socket: Socket): string | undefined {
    const { remoteAddress = '' } = socket;
    const customer = this.#trusted.has(remoteAddress)
      ? undefined
      : customerOf(normalAddress(remoteAddress) ?? remoteAddress);
    if (this.#open >= this.#total) return 'too many connections';
    const before = customer === undefined ? 0 : (this.#from.get(customer) ?? 0);
    if (before >= this.#each) return 'too many connections from one address';
    this.#count(customer, 1);
    socket.once('close', () => this.#count(customer, -1));
    return undefined;
  }

  #count(customer: string | undefined, more: 1 | -1): void {
    this.#open += more;
    if (customer === undefined) return;
    const now = (this.#from.get(customer) ?? 0) + more;
    if (now === 0) this.#from.delete(customer);
    else this.#from.set(customer, now);
  }
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
