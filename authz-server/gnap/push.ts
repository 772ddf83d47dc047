import { isIP } from 'node:net';
import { authorityOf } from '#shared/client/destinations/authority.ts';
import { createDestinations } from '#shared/client/destinations/destinations.ts';
import { systemResolve } from '#shared/client/destinations/resolve.ts';
import type { Send } from '#shared/client/send.ts';
import { sendWherePermitted } from '#shared/client/send-where-permitted.ts';
import type { Config } from '#shared/config/schema.ts';

/** Milliseconds for a whole exchange; a person waits for the page that follows. */
const MILLISECONDS = 5000;

/**
 * Whether the configuration may permit a push to a URI; the addresses of its host are checked when the push is sent.
 */
export function mayPush({ gnap }: Pick<Config, 'gnap'>, uri: string): boolean {
  const asked = authorityOf(new URL(uri));
  const permits = createDestinations(gnap?.push ?? [], () => []).concerning(asked);
  return permits !== undefined && (isIP(asked.host) === 0 || permits(asked.host));
}

/** Returns the function that notifies clients of a person's decision (RFC 9635 section 4.2.2). */
export function openPush({ gnap }: Pick<Config, 'gnap'>): Send {
  const destinations = createDestinations(gnap?.push ?? [], () => []);
  return (message) =>
    sendWherePermitted(message, {
      destinations,
      resolve: systemResolve,
      milliseconds: MILLISECONDS,
    });
}
