import type { HttpError } from '#shared/http/answer.ts';
import { printable } from '#shared/base/printable.ts';
import { failure } from './failure.ts';

/** An error of the parsers of node:http and undici. undici gives the cause only in its message. */
interface Fault extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  readonly data?: string;
}

const ENDED = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET']);
/** Parser errors about the first line: it is not HTTP, so it contains no field values. */
const FIRST_LINE = /^(?:Expected HTTP|Invalid (?:HTTP version|status code))/;
/** Characters of such a line in the log. */
const SHOWN = 40;

/**
 * The HttpError 502 for a server that gave no usable answer: not reached, connection closed, or malformed, with the
 * violated rule. The received octets are only for the log. `cause`: the error of node:http or undici. Undefined: the
 * connection closed.
 */
export function unanswered(server: 'application' | 'destination', cause: unknown): HttpError {
  const fault = (cause ?? { code: 'ECONNRESET' }) as Fault;
  const rule = ruleOf(fault);
  if (rule !== undefined) {
    return failure(502, `The ${server} sent a malformed answer: ${rule}.`, shown(fault, rule));
  }
  return ENDED.has(fault.code ?? '')
    ? failure(502, `The ${server} ended the connection without an answer.`, cause)
    : failure(502, `The ${server} cannot be reached.`, cause);
}

/** The rule in the parser's words, which contain nothing of the answer. Undefined: the answer was not malformed. */
function ruleOf({ code = '', name, reason, message }: Fault): string | undefined {
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return 'Content-Length twice, beside Transfer-Encoding, or of another length';
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'Header overflow';
  if (name === 'HTTPParserError') return /\(([^()]*)\)$/.exec(message)?.[1] ?? 'not HTTP/1.1';
  return code.startsWith('HPE_') ? (reason ?? code) : undefined;
}

/** Adds the beginning of the first line to an error about that line. */
function shown(cause: Fault, rule: string): Error {
  if (!FIRST_LINE.test(rule)) return cause;
  const [line = ''] = (cause.rawPacket?.toString('latin1') ?? cause.data ?? '').split(/[\r\n]/);
  return new Error(`It sent ${JSON.stringify(printable(line.slice(0, SHOWN)))}.`, { cause });
}
