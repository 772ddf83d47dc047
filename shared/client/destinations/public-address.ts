import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Networks that are not, or should not be, on the Internet (IANA special-purpose address registries). */
const NOT_PUBLIC_V4: readonly (readonly [network: string, prefix: number, why: string])[] = [
  ['0.0.0.0', 8, 'this host on this network'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'shared by carriers, metadata of Alibaba'],
  ['127.0.0.0', 8, 'loopback'],
  ['168.63.129.16', 32, 'metadata of Azure'],
  ['169.254.0.0', 16, 'link-local, metadata of most clouds'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'protocol assignments, metadata of Oracle'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.88.99.0', 24, 'relays of 6to4'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'benchmarks'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved, broadcast'],
];

/**
 * The exceptions from global unicast (RFC 4291 section 2.4). Everything outside global unicast is not public
 * either: loopback, unspecified, IPv4-mapped, NAT64, unique local, link-local, multicast.
 */
const NOT_PUBLIC_V6: typeof NOT_PUBLIC_V4 = [
  ['2001::', 23, 'protocol assignments, Teredo'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4, which wraps any IPv4 address'],
  ['3fff::', 20, 'documentation'],
];

const notPublicV4 = new BlockList();
for (const [network, prefix] of NOT_PUBLIC_V4) notPublicV4.addSubnet(network, prefix, 'ipv4');
const notPublicV6 = new BlockList();
for (const [network, prefix] of NOT_PUBLIC_V6) notPublicV6.addSubnet(network, prefix, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** True if an address is a public one on the Internet. A text that is not an address is not public. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !notPublicV4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  return globalUnicast.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6');
}
