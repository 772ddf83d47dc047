import { isIPv4 } from 'node:net';

/*
 * THE rule for names and addresses that lead to the same machine. It is plain JavaScript, since the parent of the
 * workers uses it, too, for its metrics listener.
 */

/**
 * 127.0.0.0/8, ::1 and localhost; `host` as in a listener or as `URL.hostname` gives it.
 * @param {string} host
 */
export function isLoopback(host) {
  return (
    host === 'localhost' ||
    host === '::1' ||
    host === '[::1]' ||
    (isIPv4(host) && host.startsWith('127.'))
  );
}

/**
 * The same with the names below localhost (RFC 6761 section 6.3), and with the dot of the root.
 * @param {string} [hostname] as `URL.hostname` gives it
 */
export function isOfMachine(hostname = '') {
  const host = hostname.replace(/\.$/, '');
  return isLoopback(host) || host.endsWith('.localhost');
}

/**
 * Matches less than `uri-host [ ":" port ]` allows (RFC 9110 section 7.2), so that no other parser finds another host
 * in the text.
 */
const AUTHORITY = /^(\[[\da-f:]+\]|[\w.-]+)(?::\d{0,5})?$/i;

/**
 * Whether Host or `:authority` has a name or address of this machine, with any port: a tunnel, such as `ssh -L`, has
 * a port of its own. An attacker's page may have led any other name to this machine (DNS rebinding): a browser then
 * takes our answers for that page's own.
 * @param {string} authority
 */
export function namesMachine(authority) {
  const [, host] = AUTHORITY.exec(authority) ?? [];
  return isOfMachine(host?.toLowerCase());
}
