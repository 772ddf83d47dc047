import { BlockList, isIP, SocketAddress } from 'node:net';
import { remembering } from '#shared/base/recent-map.ts';

/** The size of the cache of addresses; the longest text is an IPv6 address that contains an IPv4 address. */
const ADDRESSES = { capacity: 10_000, longest: 45 };

/** The networks of trusted proxies, whose fields about a request's origin are used. */
export interface TrustedProxies {
  /** `address` is an IP address in any spelling; any other text is not trusted. */
  has(address: string): boolean;
}

/** Returns an IP address in one spelling, as IPv4 if IPv6 only wraps it; undefined if the text is none. */
export const normalAddress = remembering(normalize, ADDRESSES);

function normalize(text: string): string | undefined {
  const version = text.includes('%') ? 0 : isIP(text);
  if (version === 0) return undefined;
  if (version === 4) return text;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return /^::ffff:([0-9.]+)$/.exec(address)?.[1] ?? address;
}

function family(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** Throws TypeError if a text is neither an address nor a network in CIDR notation, such as `10.0.0.0/8`. */
export function trustedProxies(trusted: readonly string[]): TrustedProxies {
  const networks = new BlockList();
  for (const text of trusted) {
    const [, address = '', prefix] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
    const whole = isIP(address) === 4 ? 32 : 128;
    if (normalAddress(address) === undefined || Number(prefix ?? whole) > whole) {
      throw new TypeError(`${text} is neither an address nor a network in CIDR notation`);
    }
    networks.addSubnet(address, Number(prefix ?? whole), family(address));
  }
  const has = (text: string) => {
    const address = normalAddress(text);
    return address !== undefined && networks.check(address, family(address));
  };
  return { has: remembering(has, ADDRESSES) };
}

/**
 * Returns the address of the client, read from the right: each trusted proxy confirms the entry to its left, and the
 * first untrusted address is the client. `peer` is the other end of the connection; `xForwardedFor` has the lines of
 * the field. At a malformed entry the result is the last valid address, since anybody could have invented the entries
 * to its left.
 */
export function clientAddress(
  peer: string,
  xForwardedFor: readonly string[],
  trusted: TrustedProxies,
): string {
  let client = normalAddress(peer) ?? peer;
  let left = xForwardedFor.join(',');
  while (left !== '' && trusted.has(client)) {
    const comma = left.lastIndexOf(',');
    const entry = normalAddress(left.slice(comma + 1).trim());
    if (entry === undefined) break;
    client = entry;
    left = left.slice(0, Math.max(0, comma));
  }
  return client;
}

/** The schemes of X-Forwarded-Proto. Traefik writes those of WebSocket for an upgrade (RFC 6455 section 3). */
const FORWARDED_SCHEMES: ReadonlyMap<string, 'http' | 'https'> = new Map([
  ['http', 'http'],
  ['https', 'https'],
  ['ws', 'http'],
  ['wss', 'https'],
]);

/**
 * Returns the scheme that X-Forwarded-Proto names, in any case (RFC 9110 section 4.2.3); undefined if it names none that
 * HTTP uses.
 */
export const forwardedScheme = (
  value: string | readonly string[] | undefined,
): 'http' | 'https' | undefined =>
  typeof value === 'string' ? FORWARDED_SCHEMES.get(value.toLowerCase()) : undefined;

/**
 * Returns the network that limits count as one customer: an IPv6 network of 64 bits, since one host can use all its
 * addresses (RFC 6177), or an IPv4 address. `address` as `clientAddress` gives it.
 */
export const customerOf = (address: string): string => networkOf(address, 4);

/**
 * Returns the network that shares count as one site: an IPv6 network of 48 bits, the largest that one site usually
 * gets (RFC 6177 section 2), or an IPv4 address. `address` as `clientAddress` gives it.
 */
export const siteOf = (address: string): string => networkOf(address, 3);

/** Returns the first `groups` of 16 bits of an IPv6 address; an IPv4 address stays whole. */
function networkOf(address: string, groups: number): string {
  if (!address.includes(':')) return address;
  const [before = '', after = ''] = address.split('::');
  const partsOf = (text: string) => (text === '' ? [] : text.split(':'));
  const [first, last] = [partsOf(before), partsOf(after)];
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  return `${[...first, ...zeros, ...last].slice(0, groups).join(':')}::/${groups * 16}`;
}
