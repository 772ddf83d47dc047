import { METHODS } from 'node:http';

/** The method that node:http takes for the beginning of HTTP/2 (RFC 9113 section 3.4), whatever follows. */
export const PRI = 'PRI';

/** The methods that node:http can read. RFC 9110 section 9.1 lets a method be any token. */
const READ: ReadonlySet<string> = new Set(METHODS);
/**
 * The method that it reads instead. Its parser treats it like any other, and we do not know it, so that a request
 * whose method went unnamed does nothing.
 */
const STAND_IN = 'MERGE';
/** Bytes within which the target has to begin. */
const FARTHEST = 64;

/** Empty lines, which are ignored (RFC 9112 section 2.2), the method, and where the target begins. */
const BEGINNING = /^(?:\r\n)*([!#$%&'*+.^_`|~0-9A-Za-z-]+) (?=[!-~])/;
const UNFINISHED = /^(?:\r\n)*(?:\r|[!#$%&'*+.^_`|~0-9A-Za-z-]+ ?)?$/;

export function isReadable(method: string): boolean {
  return READ.has(method);
}

/** The first bytes of a connection tell the method of its first request, or are none that is looked for. */
export function tellsMethod(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, FARTHEST);
  return start.length === FARTHEST || !UNFINISHED.test(start);
}

/** The method that a connection begins with, if node:http cannot read it. */
export function unknownMethod(bytes: Buffer): string | undefined {
  const [, method] = beginning(bytes);
  return method !== undefined && isReadable(method) ? undefined : method;
}

/** The same bytes as node:http can read them. */
export function withStandIn(bytes: Buffer): Buffer {
  const [{ length }] = beginning(bytes);
  return Buffer.concat([Buffer.from(`${STAND_IN} `), bytes.subarray(length)]);
}

function beginning(bytes: Buffer): readonly [all: string, method: string | undefined] {
  const [all = '', method] = BEGINNING.exec(bytes.toString('latin1', 0, FARTHEST)) ?? [];
  return [all, method];
}
