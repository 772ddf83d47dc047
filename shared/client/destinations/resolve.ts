import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** Looks up the addresses of a name. Rejects if there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface Names {
  /** The path of a file in the format of hosts(5). Names in it are not looked up in DNS. */
  readonly hosts: string;
  /** `address:port` of DNS servers; undefined: the system's servers at the time of the look-up. */
  readonly servers?: readonly string[];
  /** Milliseconds. Must be shorter than the proxy's own time limit, so that an answer for one family is used. */
  readonly patience: number;
}

const HOSTS =
  process.platform === 'win32' ? String.raw`C:\Windows\System32\drivers\etc\hosts` : '/etc/hosts';

/**
 * Creates a look-up of names without getaddrinfo. getaddrinfo blocks a thread, of which libuv has two for look-ups in
 * the whole process. So a dozen names whose servers do not answer would stop all look-ups. Here no look-up waits for
 * another. `localhost` and the names below it are loopback (RFC 6761 section 6.3); then comes the hosts file, then
 * DNS. Names are absolute: search lists (RFC 1535) and other services of the system, such as multicast DNS, are not
 * used. Each look-up has its own resolver, with an unpredictable port (RFC 5452 section 9.2) and the servers that are
 * configured at that moment.
 */
export function createResolve({ hosts, servers, patience }: Names): Resolve {
  return async (name) => {
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const listed = inHosts(hosts, name);
    if (listed.length > 0) return listed;
    const resolver = new Resolver({ timeout: patience / 4, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), patience);
    try {
      return await inDns(resolver, name);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Reads the file synchronously: it is small, in the system's cache, and needs no thread. */
function inHosts(path: string, name: string): readonly string[] {
  let text = '';
  try {
    text = readFileSync(path, 'latin1').toLowerCase();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
  }
  if (!text.includes(name)) return []; // a cheap check first, since the file may be long
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return isIP(address) !== 0 && !address.includes('%') && names.includes(name) ? [address] : [];
  });
}

/** Returns the addresses of both families alternately (RFC 8305 section 4), or of the only family that has any. */
async function inDns(resolver: Resolver, name: string): Promise<readonly string[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
  const a = v4.status === 'fulfilled' ? v4.value : [];
  const aaaa = v6.status === 'fulfilled' ? v6.value : [];
  const turns = Array.from({ length: Math.max(a.length, aaaa.length) }, (_, turn) => turn);
  return turns.flatMap((turn) => [a[turn] ?? [], aaaa[turn] ?? []].flat());
}

/** The look-up with the hosts file and DNS servers of this machine. */
export const systemResolve = createResolve({ hosts: HOSTS, patience: 8000 });
