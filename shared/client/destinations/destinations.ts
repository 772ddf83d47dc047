import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { isPublic } from './public-address.ts';
import { type Authority, parseAuthority } from './authority.ts';

/** True if an address may be reached. */
type Permits = (address: string) => boolean;

/** A rule for one entry of the configuration. Returns undefined if the entry is not for this host and port. */
type Rule = (asked: Authority) => Permits | undefined;

/** An address and port on which this server listens. */
export interface Listener {
  readonly address: string;
  readonly port: number;
}

/** The destinations that clients may reach. A destination that no entry names is refused. */
export interface Destinations {
  /**
   * Combines the entries for this host and port into one check of the host's addresses. Returns undefined without
   * such entries, so that the name need not be looked up.
   */
  concerning(asked: Authority): Permits | undefined;
}

const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * Creates the destinations. `self`: the listeners of this server. A listener on all addresses is reached at the
 * loopback address.
 */
export function createDestinations(
  entries: readonly string[],
  self: () => readonly Listener[],
): Destinations {
  const rules = entries.map((entry) => (entry === 'self' ? ownRule(self) : parseRule(entry)));
  return {
    concerning(asked) {
      const concerned = rules.flatMap((rule) => rule(asked) ?? []);
      if (concerned.length === 0) return undefined;
      return (address) => concerned.some((permits) => permits(address));
    },
  };
}

function ownRule(self: () => readonly Listener[]): Rule {
  return ({ port }) => {
    const own = self().flatMap((one) =>
      one.port === port ? (LOOPBACK[one.address] ?? one.address) : [],
    );
    return own.length === 0 ? undefined : (address) => own.includes(address);
  };
}

/**
 * Parses an entry of the configuration other than `self`: `public:PORT`, or a host and a port, where the host is a
 * name (`*.example.com` for all names below it), an address, or a network (`10.0.0.0/8`, `[fd00::/8]`). A name
 * permits public addresses only, so that its DNS server cannot choose among internal ones. Throws TypeError if it
 * is none of these.
 */
export function parseRule(entry: string): Rule {
  const [, host = '', port = ''] = /^(.+):([0-9]{1,5})$/.exec(entry) ?? [];
  const rule = host === 'public' ? () => isPublic : (networkRule(host) ?? nameRule(host));
  const wanted = Number(port);
  if (rule === undefined || wanted < 1 || wanted > 65_535) {
    throw new TypeError(`${entry} is not self, public:PORT or HOST:PORT`);
  }
  return (asked) => (asked.port === wanted ? rule(asked) : undefined);
}

function nameRule(host: string): Rule | undefined {
  const wild = host.startsWith('*.');
  const name = parseAuthority(wild ? host.slice(2) : host, 80)?.host;
  if (name === undefined) return undefined;
  return (asked) => {
    const matches = wild ? asked.host.endsWith(`.${name}`) : asked.host === name;
    return matches ? isPublic : undefined;
  };
}

function networkRule(host: string): Rule | undefined {
  const [, bracketed, plain = bracketed] = /^(?:\[(.*)\]|(.*))$/.exec(host) ?? [];
  const [address = '', length, ...more] = (plain ?? '').split('/');
  const isFamily = bracketed === undefined ? isIPv4 : isIPv6;
  const bits = bracketed === undefined ? 32 : 128;
  const prefix = length === undefined ? bits : /^[0-9]{1,3}$/.test(length) ? Number(length) : NaN;
  if (!isFamily(address) || address.includes('%') || more.length > 0 || !(prefix <= bits)) {
    return undefined;
  }
  const family = bits === 32 ? 'ipv4' : 'ipv6';
  const network = new BlockList();
  network.addSubnet(address, prefix, family);
  // The family is checked here, since BlockList would find an IPv4-mapped address in an IPv4 network.
  const permits: Permits = (asked) => isFamily(asked) && network.check(asked, family);
  return () => permits;
}
