import { createHash } from 'node:crypto';
import { lines, plainMembers } from './fields.ts';

/** The token in Upgrade and `:protocol` by which a handshake asks for a WebSocket (RFC 8441 section 5). */
export const WEB_SOCKET = 'websocket';

/** RFC 6455 section 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Matches 16 octets in base64 (RFC 6455 section 4.1). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

interface Head {
  readonly method?: string | undefined;
  readonly httpVersion: string;
  readonly rawHeaders: readonly string[];
}

/** Returns whether a request of HTTP/1.1 asks for a WebSocket (RFC 6455 section 4.2.1). */
export function isHandshake(head: Head): boolean {
  const { method, rawHeaders } = head;
  return (
    method === 'GET' &&
    hasToken(rawHeaders, 'upgrade', WEB_SOCKET) &&
    hasToken(rawHeaders, 'connection', 'upgrade') &&
    isHeadAlone(head)
  );
}

/**
 * Returns whether a request of HTTP/1.1 has no content and no expectation. Only then is it certain where the octets
 * of another protocol begin.
 */
export function isHeadAlone({ httpVersion, rawHeaders }: Head): boolean {
  return (
    httpVersion === '1.1' &&
    ['content-length', 'transfer-encoding', 'expect'].every(
      (name) => lines(rawHeaders, name).length === 0,
    )
  );
}

/** Returns whether an answer says that the connection has become a WebSocket. */
export function isSwitch({ rawHeaders }: Pick<Head, 'rawHeaders'>): boolean {
  const [protocol, another] = lines(rawHeaders, 'upgrade');
  return (
    protocol?.toLowerCase() === WEB_SOCKET &&
    another === undefined &&
    hasToken(rawHeaders, 'connection', 'upgrade')
  );
}

/** Returns the value of Sec-WebSocket-Key; undefined if it is missing, malformed or repeated. */
export function keyOf(rawHeaders: readonly string[]): string | undefined {
  const [key, another] = lines(rawHeaders, 'sec-websocket-key');
  return key !== undefined && another === undefined && KEY.test(key) ? key : undefined;
}

/** Returns the value of Sec-WebSocket-Accept for a key (RFC 6455 section 4.2.2). */
export function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64');
}

function hasToken(rawHeaders: readonly string[], field: string, token: string): boolean {
  return lines(rawHeaders, field).some((line) =>
    plainMembers(line).some((member) => member.toLowerCase() === token),
  );
}
