import { METHODS } from 'node:http';

/** The method that node:http reads as the beginning of HTTP/2 (RFC 9113 section 3.4), in any request. */
export const PRI = 'PRI';

/** The methods that node:http can read. RFC 9110 section 9.1 allows any token as a method. */
const READ: ReadonlySet<string> = new Set(METHODS);
/**
 * The method that replaces an unknown method for node:http, whose parser then reads the request normally. No handler
 * supports it. So a request whose real method was not restored has no effect.
 */
const STAND_IN = 'MERGE';
/** How many octets may come before the target begins. */
const FARTHEST = 64;

/**
 * Matches leading empty lines, which are ignored (RFC 9112 section 2.2), the method, and the beginning of the target.
 */
const BEGINNING = /^(?:\r\n)*([!#$%&'*+.^_`|~0-9A-Za-z-]+) (?=[!-~])/;
const UNFINISHED = /^(?:\r\n)*(?:\r|[!#$%&'*+.^_`|~0-9A-Za-z-]+ ?)?$/;

export function isReadable(method: string): boolean {
  return READ.has(method);
}

/**
 * True if the first octets of a connection suffice to decide: they contain the method of the first request, or cannot
 * become an unknown method.
 */
export function tellsMethod(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, FARTHEST);
  return start.length === FARTHEST || !UNFINISHED.test(start);
}

/** Returns the first method of a connection if node:http cannot read it. */
export function unknownMethod(bytes: Buffer): string | undefined {
  const [, method] = beginning(bytes);
  return method !== undefined && isReadable(method) ? undefined : method;
}

/** Returns the same octets with a method that node:http can read. */
export function withStandIn(bytes: Buffer): Buffer {
  const [{ length }] = beginning(bytes);
  return Buffer.concat([Buffer.from(`${STAND_IN} `), bytes.subarray(length)]);
}

function beginning(bytes: Buffer): readonly [all: string, method: string | undefined] {
  const [all = '', method] = BEGINNING.exec(bytes.toString('latin1', 0, FARTHEST)) ?? [];
  return [all, method];
}
