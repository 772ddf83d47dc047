import { isIPv4, isIPv6 } from 'node:net';

/** The host and port of a request's destination. */
export interface Authority {
  /** A name in lower case without a trailing dot, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

const AUTHORITY =
  /^(?:\[(?<literal>[0-9a-f:.]+)\]|(?<name>[0-9a-z._-]+))(?::(?<port>[0-9]{1,5}))?$/i;
const LABEL = /^[0-9a-z_](?:[0-9a-z_-]{0,61}[0-9a-z_])?$/;
/** Labels that programs read as an IPv4 number: decimal, octal or hexadecimal (WHATWG URL section 3.5). */
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;

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

/** Returns the host and port that a URL of http or https leads to. */
export function authorityOf({ hostname, port, protocol }: URL): Authority {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}
