import { TLSSocket } from 'node:tls';
import type { Space } from '../spaces.ts';
import { lines, single } from '#shared/http/fields.ts';
import { clientAddress, type TrustedProxies } from '#shared/http/forwarded.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import { type Lines, onwardLines } from '../forwarding/fields.ts';
import type { Name } from '../forwarding/names.ts';
import { forwardedOrigin } from '../forwarded-origin.ts';
import { destinationLines } from './destination-lines.ts';
import type { PathMap } from './paths.ts';

/** With these a client would have a method that nobody has looked at carried out. */
const OVERRIDES = new Set(['x-http-method', 'x-http-method-override', 'x-method-override']);
/** Written by us, where they are. */
const OURS = /^(?:x-auth-.+|x-request-id|destination|if|expect)$/;
/** Credentials that were for us. */
const CREDENTIALS = new Set(['authorization', 'dpop']);
/** Schemes whose credentials an application may see, where the operator says so. */
const TOKENS = new Set(['Bearer', 'DPoP']);

/** Removed from what goes on, for one space. */
export function removedFrom(space: Space, config: UpstreamConfig): (name: Name) => boolean {
  const secrets = new Set(
    [...config.secrets, space.apiKeyField ?? []].flat().map((name) => name.toLowerCase()),
  );
  return ({ canonical, vouched }) =>
    vouched || OURS.test(canonical) || OVERRIDES.has(canonical) || secrets.has(canonical);
}

export interface Told {
  readonly request: AnyRequest;
  readonly space: Space;
  readonly config: UpstreamConfig;
  readonly map: PathMap;
  readonly removed: (name: Name) => boolean;
  /** By which the client got in; undefined: by none. */
  readonly scheme: string | undefined;
  readonly proxies: TrustedProxies;
  readonly pseudonym: string;
  readonly cookies: ReadonlySet<string>;
  readonly requestId: string;
  /** Where it is sent. */
  readonly url: URL;
}

/** The fields of a request as the application gets them, but for those of its framing and of who was let in. */
export function applicationLines(told: Told): Lines {
  const { request, config, scheme, cookies, requestId, url, removed, pseudonym } = told;
  const passes = scheme === undefined || (config.authorization === 'pass' && TOKENS.has(scheme));
  const onward = onwardLines(
    request,
    pseudonym,
    (name) => removed(name) || (!passes && CREDENTIALS.has(name.canonical)),
  ).flatMap((line) => (line[0] === 'Cookie' ? withoutCookies(line, cookies) : [line]));
  const client = hostOf(request);
  const host = config.host === 'client' ? client : url.host;
  return [
    ['Host', host],
    ...onward,
    ...destinationLines(told, `${url.protocol}//${host}`),
    ...forwardedLines(told, client),
    ['X-Request-Id', requestId],
  ];
}

/** One of our own origins, as the front door has seen to. */
function hostOf({ headers, url = '' }: AnyRequest): string {
  const [, absolute] = /^https?:\/\/([^/?]*)/i.exec(url) ?? [];
  return String(absolute ?? headers[':authority'] ?? headers.host ?? '');
}

/** Without those of ours: cookies know no ports. */
function withoutCookies([name, value]: Lines[number], ours: ReadonlySet<string>): Lines {
  const kept = value.split(/; */).filter((pair) => !ours.has(pair.split('=')[0] ?? ''));
  return kept.length === 0 ? [] : [[name, kept.join('; ')]];
}

/** What the application may know of the way here: what strangers say of it is not passed on, what trusted proxies do is. */
function forwardedLines({ request, space, config, map, proxies }: Told, host: string): Lines {
  if (config.forwarded === 'none') return [];
  const { rawHeaders, socket } = request;
  const peer = socket.remoteAddress ?? '';
  const trusted = proxies.has(peer);
  const before = trusted ? lines(rawHeaders, 'x-forwarded-for') : [];
  const told = trusted ? forwardedOrigin(rawHeaders) : undefined;
  const own = `${socket instanceof TLSSocket ? 'https' : 'http'}://${host}`;
  const { protocol, host: asked } = new URL(told ?? own);
  const proto =
    told === undefined && trusted ? protoOf(rawHeaders, protocol) : protocol.slice(0, -1);
  if (config.forwarded === 'forwarded') {
    const client = clientAddress(peer, before, proxies);
    const each = client === peer ? [peer] : [client, peer];
    const nodes = each.map((address) => `for=${node(address)}`);
    nodes[0] += `;host="${asked}";proto=${proto}`;
    return [['Forwarded', nodes.join(', ')]];
  }
  return [
    ['X-Forwarded-For', [...before, peer].join(', ')],
    ['X-Forwarded-Proto', proto],
    ['X-Forwarded-Host', asked],
    ...(map.same || space.segments.length === 0
      ? []
      : [['X-Forwarded-Prefix', map.root.slice(0, -1)] satisfies Lines[number]]),
  ];
}

const protoOf = (rawHeaders: readonly string[], own: string) =>
  single(rawHeaders, 'x-forwarded-proto') === 'https' ? 'https' : own.slice(0, -1);

/** RFC 7239 section 6. */
const node = (address: string) => (address.includes(':') ? `"[${address}]"` : address);
