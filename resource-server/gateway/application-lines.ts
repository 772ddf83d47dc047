import { TLSSocket } from 'node:tls';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import { withoutCookies } from '#shared/http/cookies.ts';
import { lines, single } from '#shared/http/fields.ts';
import { clientAddress, forwardedScheme, type TrustedProxies } from '#shared/http/forwarded.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Random } from '#shared/base/random.ts';
import { requestId, traceOf } from '#shared/server/message/request-log.ts';
import { traceLines } from '#shared/server/message/trace-context.ts';
import { type Drop, type Lines, onwardLines } from '../forwarding/fields.ts';
import type { Space } from '../space/spaces.ts';
import { destinationLines } from './destination-lines.ts';
import type { PathMap } from './paths.ts';

export interface ApplicationLinesOptions {
  readonly space: Space;
  readonly config: UpstreamConfig;
  readonly map: PathMap;
  readonly proxies: TrustedProxies;
  readonly pseudonym: string;
  readonly random: Random;
  /** Whether a cookie with that name belongs to this server. */
  readonly isOurs: (name: string) => boolean;
}

/**
 * Makes the fields of a request as the application at `url` gets them, without framing and identity fields. `removed`:
 * the fields that are stripped (removal.ts has the rule). Throws BadRequest or HttpError for a request that cannot be
 * forwarded.
 */
export function createApplicationLines(options: ApplicationLinesOptions) {
  const { space, config, map, proxies, pseudonym, random, isOurs } = options;
  const { host: ours } = new URL(space.origin);

  return (request: AnyRequest, url: URL, removed: Drop): Lines => {
    const host = config.host === 'public' ? ours : url.host;
    const trace = traceOf(request);
    const onward = onwardLines(request, pseudonym, removed);
    return [
      ['Host', host],
      ...onward.flatMap((line) => foreignCookies(line, isOurs)),
      ...destinationLines({ request, space, map }, `${url.protocol}//${host}`),
      ...FORWARDED[config.forwarded](wayOf(request, ours, proxies)),
      ...(map.prefix !== '' ? [['X-Forwarded-Prefix', map.prefix] satisfies Lines[number]] : []),
      ['X-Request-Id', requestId(request)],
      ...(trace ? traceLines(trace, random) : []),
    ];
  };
}

/** Returns a Cookie line without this server's cookies, which arrive since cookies ignore ports. */
function foreignCookies(line: Lines[number], isOurs: (name: string) => boolean): Lines {
  const [name, value] = line;
  if (name !== 'Cookie') return [line];
  const kept = withoutCookies(value, isOurs);
  return kept === '' ? [] : [[name, kept]];
}

/** How a request arrived. */
interface Way {
  readonly peer: string;
  /** The addresses that trusted proxies report before the peer, in order. */
  readonly before: readonly string[];
  readonly client: string;
  readonly proto: string;
  readonly host: string;
}

/** Returns the client's address and protocol. Only trusted proxies may report them. The host is that of the space. */
function wayOf({ rawHeaders, socket }: AnyRequest, host: string, proxies: TrustedProxies): Way {
  const peer = socket.remoteAddress ?? '';
  const proto = schemeOf({ rawHeaders, socket }, proxies);
  if (!proxies.has(peer)) return { peer, before: [], client: peer, proto, host };
  const before = lines(rawHeaders, 'x-forwarded-for');
  return { peer, before, client: clientAddress(peer, before, proxies), proto, host };
}

/** `http` or `https`, as used by the client to reach this server or a trusted proxy. */
export function schemeOf(
  { rawHeaders, socket }: Pick<AnyRequest, 'rawHeaders' | 'socket'>,
  proxies: TrustedProxies,
): string {
  if (socket instanceof TLSSocket) return 'https';
  if (!proxies.has(socket.remoteAddress ?? '')) return 'http';
  return forwardedScheme(single(rawHeaders, 'x-forwarded-proto')) ?? 'http';
}

const FORWARDED: Readonly<Record<UpstreamConfig['forwarded'], (way: Way) => Lines>> = {
  'x-forwarded': ({ peer, before, proto, host }) => [
    ['X-Forwarded-For', before.length === 0 ? peer : [...before, peer].join(', ')],
    ['X-Forwarded-Proto', proto],
    ['X-Forwarded-Host', host],
  ],
  /** The field Forwarded (RFC 7239 section 4). */
  forwarded({ peer, client, proto, host }) {
    const first = `for=${node(client)};host="${host}";proto=${proto}`;
    return [['Forwarded', client === peer ? first : `${first}, for=${node(peer)}`]];
  },
  none: () => [],
};

/** A node identifier (RFC 7239 section 6). */
const node = (address: string) => (address.includes(':') ? `"[${address}]"` : address);
