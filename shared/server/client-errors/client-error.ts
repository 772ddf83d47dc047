import type { Duplex } from 'node:stream';
import type { ConnectionError } from '../message/connection-error.ts';
import { isReadable } from './unknown-method.ts';

/**
 * The error of node:http for octets that are no request. `rawPacket` has only the last read, not the whole header
 * section.
 */
export interface ClientError extends Error {
  readonly code?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [!-~]+ HTTP\/1\.[0-9]\r\n/;
const VERSION = /HTTP\/[0-9]\.[0-9]\r\n/;
const UNFINISHED_LINE = /^[ -~]*\r?$/;
const LONGEST_LINE = 16_384;

export const MALFORMED: ConnectionError = {
  status: 400,
  detail: 'This is not a well-formed HTTP/1.1 request.',
};
export const NEEDS_TLS: ConnectionError = {
  status: 400,
  detail: 'This port speaks TLS. Send the request to the same address with https.',
};
const UNKNOWN_METHOD: ConnectionError = {
  status: 501,
  detail: 'No resource of this server knows the method. Methods are in upper case.',
};
export const TARGET_TOO_LONG: ConnectionError = {
  status: 414,
  detail: 'The request target is too long. Send what is long as content.',
};
export const FIELDS_TOO_LARGE: ConnectionError = {
  status: 431,
  detail: 'The header section is too large. Send fewer or shorter fields.',
};
export const TOO_SLOW: ConnectionError = {
  status: 408,
  detail: 'The request did not arrive in time. Send it again.',
};
/**
 * The answer to another version of HTTP (RFC 9110 section 15.6.6). The preface of HTTP/2 (RFC 9113 section 3.4) has
 * another version, too.
 */
export const OTHER_VERSION: ConnectionError = {
  status: 505,
  detail: 'This port speaks HTTP/1.1 and HTTP/1.0.',
};

/** Returns the received part of the line in which the parser stopped. */
function stoppedIn({ rawPacket, bytesParsed = 0 }: ClientError): string {
  const start = (rawPacket?.subarray(0, bytesParsed).lastIndexOf('\n') ?? 0) + 1;
  return rawPacket?.toString('latin1', start) ?? '';
}

/**
 * Returns the target of the request that the parser refused, if the last read began with its request line; else an
 * empty text.
 */
export function targetOf({ rawPacket }: ClientError): string {
  const read = rawPacket?.toString('latin1', 0, LONGEST_LINE) ?? '';
  return /^[A-Z]+ ([!-~]+)/.exec(read)?.[1] ?? '';
}

/** Whether the parser refused the request after the end of its request line. */
function isPastLine({ rawPacket, bytesParsed = 0 }: ClientError): boolean {
  return rawPacket?.toString('latin1', bytesParsed - 2, bytesParsed) === '\r\n';
}

/**
 * The answer for each error code, computed from the line. Undefined if the connection gets no answer, or if the line
 * is not complete yet.
 */
const RULES: Readonly<
  Record<
    string,
    (line: string, error: ClientError, besideHttp2: boolean) => ConnectionError | undefined
  >
> = {
  HPE_INVALID_METHOD(line) {
    if (REQUEST_LINE.test(line)) return UNKNOWN_METHOD; // RFC 9110 section 9.1
    if (line.length > LONGEST_LINE) return TARGET_TOO_LONG; // RFC 9112 section 3
    return UNFINISHED_LINE.test(line) ? undefined : MALFORMED;
  },
  /** 414 is right if the line is certainly the request line. If the line came in several reads, 431 is right, too. */
  HPE_HEADER_OVERFLOW: (line) =>
    isReadable(line.slice(0, line.indexOf(' '))) ? TARGET_TOO_LONG : FIELDS_TOO_LARGE,
  /** If the parser supports the version, it gives this error only for the method PRI (RFC 9113 section 3.4). */
  HPE_INVALID_VERSION(line, error) {
    if (isPastLine(error)) return UNKNOWN_METHOD;
    return VERSION.test(line) ? OTHER_VERSION : MALFORMED;
  },
  HPE_PAUSED_H2_UPGRADE: (_line, _error, besideHttp2) =>
    besideHttp2 ? UNKNOWN_METHOD : OTHER_VERSION,
  ERR_HTTP_REQUEST_TIMEOUT: () => TOO_SLOW,
  /** Octets arrived after `Connection: close`, so the answer under way is the last (RFC 9112 section 9.6). */
  HPE_CLOSED_CONNECTION: () => undefined,
};

/** True if the parser refused the octets. Every other error without a rule means a lost connection. */
export function isOfParser({ code }: ClientError): boolean {
  return code?.startsWith('HPE_') ?? false;
}

/** Turns an error that node:http reports for a connection into the answer for the client. */
export class ClientErrors {
  readonly #besideHttp2: boolean;
  /** Incomplete lines without an answer so far: the parser reports every further read as an error. */
  readonly #unfinished = new WeakMap<Duplex, string>();

  /** `besideHttp2`: the port supports HTTP/2, too, so a preface in a right place never reaches this server. */
  constructor(besideHttp2: boolean) {
    this.#besideHttp2 = besideHttp2;
  }

  /** Returns the answer; undefined if the connection gets none, or if the line is not complete yet. */
  judge(error: ClientError, socket: Duplex): ConnectionError | undefined {
    const before = this.#unfinished.get(socket);
    const line =
      before === undefined
        ? stoppedIn(error)
        : before + (error.rawPacket?.toString('latin1') ?? '');
    const rule = RULES[error.code ?? ''];
    if (rule === undefined) return isOfParser(error) ? MALFORMED : undefined;
    const refusal = rule(line, error, this.#besideHttp2);
    if (refusal === undefined) this.#unfinished.set(socket, line.slice(0, LONGEST_LINE + 1));
    return refusal;
  }
}
