import { isIP, type Socket } from 'node:net';
import { HttpError } from '#shared/http/answer.ts';
import type { Destinations } from '#shared/client/destinations/destinations.ts';
import { failure } from '../forwarding/failure.ts';
import type { Inflow } from './inflow.ts';
import type { Network } from './network.ts';
import type { Authority } from '#shared/client/destinations/authority.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** The most addresses of a name that are tried. */
const ADDRESSES = 4;

/**
 * Connects to a destination that the configuration permits. The name is looked up once, and only the checked addresses
 * are used, so later changes of the name have no effect. `inflow` receives the data. Rejects with HttpError: 403 if the
 * configuration refuses, 502 or 504 if the network fails.
 */
export type Reach = (asked: Authority, signal: AbortSignal, inflow?: Inflow) => Promise<Socket>;

/** `patience`: milliseconds for looking up the name, and again for connecting. */
export function createReach(
  destinations: Destinations,
  { resolve, dial }: Network,
  patience: number,
): Reach {
  async function addressesOf(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    return within(resolve(host), patience).catch((error: unknown) => {
      throw isTimeout(error)
        ? failure(504, 'The name was not resolved in time.', error)
        : failure(502, 'The name cannot be resolved.', error);
    });
  }

  return async ({ host, port }, signal, inflow) => {
    const permits = destinations.concerning({ host, port });
    const found = permits === undefined ? [] : await addressesOf(host);
    const addresses = found.filter((address) => permits?.(address)).slice(0, ADDRESSES);
    if (addresses.length === 0) {
      throw new HttpError(403, 'This proxy does not connect to this destination.');
    }
    let last: unknown;
    for (const address of addresses) {
      try {
        return await inTime(signal, patience / addresses.length, (ended) =>
          dial(address, port, ended, inflow),
        );
      } catch (error) {
        last = error;
        signal.throwIfAborted();
      }
    }
    throw isTimeout(last)
      ? failure(504, 'The destination did not answer in time.', last)
      : failure(502, 'The destination cannot be connected to.', last);
  };
}

/** Error codes of timeouts of connections and look-ups: no answer, or cancelled at the time limit. */
const TIMEOUTS: ReadonlySet<unknown> = new Set(['ETIMEDOUT', 'ETIMEOUT', 'ECANCELLED']);

function isTimeout(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const named = 'name' in error && error.name === 'TimeoutError';
  return named || ('code' in error && TIMEOUTS.has(error.code));
}

/**
 * Does work that ends with the signal, or after so many milliseconds. `AbortSignal.timeout` and `any` would stay in
 * memory for longer than a tunnel takes to open.
 */
async function inTime<T>(
  signal: AbortSignal,
  milliseconds: number,
  work: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const leave = () => ending.abort(signal.reason);
  const timer = setTimeout(() => ending.abort(tooLate()), milliseconds);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

const tooLate = () => new DOMException('It took too long.', 'TimeoutError');

async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  const signal = AbortSignal.timeout(milliseconds);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const expire = () => reject(signal.reason);
  signal.addEventListener('abort', expire, { once: true });
  try {
    return await Promise.race([promise, late]);
  } finally {
    signal.removeEventListener('abort', expire);
  }
}
