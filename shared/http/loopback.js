import { isIPv4 } from 'node:net';

/*
 * THE rule which names and addresses lead to the own machine. It is plain JavaScript, since the parent of the workers
 * uses it for its listener for scrapes.
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

/** Less than `uri-host [ ":" port ]` may be (RFC 9110 section 7.2), so that no other reader finds another host in it. */
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
