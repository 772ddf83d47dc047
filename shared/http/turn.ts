import type { Client, Turn } from '#shared/base/line.ts';
import { customerOf, siteOf } from './forwarded.ts';

/**
 * The turn of somebody at an address, of whom nothing else is known: sites take turns, and the addresses within one.
 * A site is the smallest network that is routed by itself, since providers accept no longer prefixes: 24 bits of IPv4,
 * 48 of IPv6.
 */
export const turnAt = (address: string, client?: Client): Turn => ({
  groups: ['addresses', routedOf(address), customerOf(address)],
  client,
});

/**
 * The turn of an account whose owner has shown who they are, now or lately. Accounts take turns, and all of them with
 * all addresses: however many addresses wait, an account waits for one of them.
 */
export const turnOf = (account: string, client?: Client): Turn => ({
  groups: ['accounts', account],
  client,
});

const routedOf = (address: string) =>
  address.includes(':') ? siteOf(address) : address.slice(0, address.lastIndexOf('.'));
