import { isIP } from 'node:net';
import { authorityOf } from './destinations/authority.ts';
import { said } from '#shared/refusals/operations.ts';
import type { Destinations } from './destinations/destinations.ts';
import type { Resolve } from './destinations/resolve.ts';
import { ended, exchangeOver, type Message, noAnswer, NotTaken, type Reply } from './send.ts';

export interface Permitted {
  readonly destinations: Destinations;
  readonly resolve: Resolve;
  /** Milliseconds for the whole exchange. */
  readonly milliseconds: number;
  /** Most octets of content that are accepted; default: 16 KiB. */
  readonly most?: number;
}

/** How many addresses of a name are tried at most. */
const ADDRESSES = 4;

/**
 * Sends a message to a server that a stranger named. The name is looked up once, and the client connects only to
 * addresses that the configuration permits, so that a later change of the name has no effect. No redirect is
 * followed. Rejects with `NoAnswer`.
 */
export async function sendWherePermitted(
  message: Message,
  { destinations, resolve, milliseconds, most = 16_384 }: Permitted,
): Promise<Reply> {
  const asked = authorityOf(new URL(message.url));
  const { host } = asked;
  const permits = destinations.concerning(asked);
  const signal = AbortSignal.timeout(milliseconds);
  try {
    const found =
      permits === undefined ? [] : await Promise.race([addressesOf(host, resolve), ended(signal)]);
    const addresses = found.filter((address) => permits?.(address)).slice(0, ADDRESSES);
    if (addresses.length === 0) throw new NotTaken(said('network-denied'));
    const { openClient } = await import('./client.ts');
    const client = openClient({ milliseconds, addresses });
    try {
      // undici ignores the signal while a request waits for its connection, so the signal is watched here, too.
      return await Promise.race([exchangeOver(client, message, { most, signal }), ended(signal)]);
    } finally {
      await client.dispatcher.destroy();
    }
  } catch (error) {
    throw noAnswer(message, error);
  }
}

const addressesOf = async (host: string, resolve: Resolve): Promise<readonly string[]> =>
  isIP(host) === 0 ? resolve(host) : [host];
