import type { Client, Turn } from '#shared/base/line.ts';
import { customerOf, siteOf } from './forwarded.ts';

/**
 * Returns the turn of an unknown caller at an address: the line serves sites in rotation, and the addresses within a
 * site. A site is the smallest network that is routed separately, since providers accept no longer prefixes: 24 bits
 * of IPv4, 48 of IPv6.
 */
export const turnAt = (address: string, client?: Client): Turn => ({
  groups: ['addresses', routedOf(address), customerOf(address)],
  client,
});

/**
 * Returns the turn of an account whose owner has authenticated, now or recently. The line serves accounts in
 * rotation, and all accounts alternate with all addresses: an account waits for one address, even if many wait.
 */
export const turnOf = (account: string, client?: Client): Turn => ({
  groups: ['accounts', account],
  client,
});

const routedOf = (address: string) =>
  address.includes(':') ? siteOf(address) : address.slice(0, address.lastIndexOf('.'));
