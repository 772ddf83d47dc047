import { isIPv4, isIPv6 } from 'node:net';

/** The host and port of a request's destination. */
export interface Authority {
  /** A name in lower case without a trailing dot, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The target of a request that a proxy forwards (RFC 9112 section 3.2.2). */
export interface ProxyTarget extends Authority {
  /** The authority as received, which is the forwarded value of Host. */
  readonly authority: string;
  /** Path and query as received; `*` for OPTIONS without a path (RFC 9112 section 3.2.4). */
  readonly path: string;
}

const AUTHORITY =
  /^(?:\[(?<literal>[0-9a-f:.]+)\]|(?<name>[0-9a-z._-]+))(?::(?<port>[0-9]{1,5}))?$/i;
const LABEL = /^[0-9a-z_](?:[0-9a-z_-]{0,61}[0-9a-z_])?$/;
/** Labels that programs read as an IPv4 number: decimal, octal or hexadecimal (WHATWG URL section 3.5). */
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;

const ABSOLUTE = /^http:\/\/([^/?]+)([!"$-~]*)$/i;

/**
 * Parses `host:port` (RFC 9110 section 7.2); `port` is the default port. Returns undefined if the text is
 * malformed or ambiguous: userinfo, percent-encoding, a number that is not an address in four decimal parts.
 */
export function parseAuthority(text: string, port?: number): Authority | undefined {
  const { literal, name, port: given } = AUTHORITY.exec(text)?.groups ?? {};
  const host = literal?.toLowerCase() ?? parseName(name);
  const number = given === undefined ? port : Number(given);
  if (host === undefined || number === undefined || number < 1 || number > 65_535) return undefined;
  if (literal !== undefined && !isIPv6(literal)) return undefined;
  return { host, port: number };
}

function parseName(text = ''): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, '');
  const labels = name.split('.');
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) return undefined;
  if (NUMBER.test(labels.at(-1) ?? '')) return isIPv4(text) ? text : undefined;
  return name;
}

/**
 * Parses absolute-form with the scheme http. Returns undefined if it is another form or malformed. Targets have no
 * fragments, and userinfo is refused (RFC 9110 section 4.2.4).
 */
export function parseProxyTarget(method: string, text: string): ProxyTarget | undefined {
  const [, authority = '', rest = ''] = ABSOLUTE.exec(text) ?? [];
  const parsed = parseAuthority(authority, 80);
  if (parsed === undefined) return undefined;
  const empty = method === 'OPTIONS' ? '*' : '/';
  return {
    ...parsed,
    authority,
    path: rest.startsWith('/') ? rest : rest === '' ? empty : `/${rest}`,
  };
}
