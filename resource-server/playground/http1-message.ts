import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';

export type FieldLine = readonly [name: string, value: string];

/** A TLS connection from the view of its client. */
export interface Connection {
  /** Exports keying material (RFC 8446 section 7.5). */
  exporter(label: string, context: Buffer, length: number): Buffer;
  /** The certificate of the server, in DER. */
  readonly certificate: Buffer;
}

/** A server that an exchange asks beside the resource server. */
export type Party = 'issuer' | 'proxy' | 'authorization';

/** A sender other than the client. */
export type Sender = 'browser' | 'userAgent' | 'applicationServer';

/** A request as an exchange describes it. `target` is in origin form (RFC 9112 section 3.2.1). */
export interface PlannedRequest {
  /** The party that gets the request. Absent: the resource server. */
  readonly to?: Party;
  /** The sender. Absent: the client. */
  readonly from?: Sender;
  readonly method: string;
  /** For CONNECT the target is in authority form (section 3.2.3). */
  readonly target: string;
  readonly fields: readonly FieldLine[];
  /** Makes further fields for the TLS connection that carries the request. */
  ofConnection?(connection: Connection): readonly FieldLine[];
  readonly content?: string | Uint8Array;
}

/** An answer as the client reads it. */
export interface ReadAnswer {
  readonly status: number;
  readonly fields: readonly FieldLine[];
  readonly content: string;
  /** The answer as octets. */
  readonly octets: Buffer;
}

/**
 * Visible characters, spaces and tabs (RFC 9110 section 5.5). CR, LF and NUL are excluded, since they would begin
 * another line.
 */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns the fields that a request has in any version of HTTP. Throws `BadRequest` if a value contains forbidden
 * characters.
 */
export function contentLines({ fields, content }: PlannedRequest): readonly FieldLine[] {
  const accepts = fields.some(([name]) => name === 'Accept');
  const lines: readonly FieldLine[] = [
    ...(accepts ? [] : [['Accept', '*/*'] as const]),
    ...fields,
    ...(content === undefined
      ? []
      : [['Content-Length', String(Buffer.byteLength(content))] as const]),
  ];
  if (lines.some(([, value]) => !VALUE.test(value))) {
    throw new BadRequest('A value has characters that no field can carry.');
  }
  return lines;
}

/** Writes a request in HTTP/1.1 (RFC 9112 section 3). Throws as `contentLines`. */
export function writeRequest(host: string, planned: PlannedRequest): Buffer {
  const { method, target, content } = planned;
  const lines = [['Host', host], ...contentLines(planned), ['Connection', 'close']] as const;
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const section = Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}\r\n`, 'latin1');
  return Buffer.concat([section, Buffer.from(content ?? '')]);
}

/** The parts of a message: its first line, its fields and its content. */
export interface MessageParts {
  /** The first line. HTTP/2 has none, so its pseudo-fields are written in the form of HTTP/1.1. */
  readonly first: string;
  readonly fields: readonly FieldLine[];
  readonly content: Buffer;
}

/** Splits a recorded message: of HTTP/1.1 (RFC 9112 section 2.1), or a list of fields of HTTP/2 (`writeList`). */
export function partsOf(octets: Buffer): MessageParts {
  const end = octets.indexOf('\r\n\r\n');
  const head = octets.subarray(0, end === -1 ? octets.length : end).toString('latin1');
  const content = octets.subarray(end === -1 ? octets.length : end + 4);
  const lines = head.split('\r\n');
  if (head.startsWith(':')) {
    const fields = lines.map(fieldIn);
    const pseudo = (name: string) => fields.find(([one]) => one === name)?.[1];
    const status = pseudo(':status');
    const request = `${pseudo(':method')} ${pseudo(':path')} HTTP/2`;
    return { first: status === undefined ? request : `HTTP/2 ${status} `, fields, content };
  }
  const [first = '', ...rest] = lines;
  return { first, fields: rest.map(fieldIn), content };
}

/** Splits a line at its colon. The name of a pseudo-field begins with a colon (RFC 9113 section 8.3). */
function fieldIn(line: string): FieldLine {
  const colon = line.indexOf(':', 1);
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/**
 * Splits the octets from a proxy at the end of its answer, if it opens the tunnel. Such an answer has no content (RFC
 * 9110 section 9.3.6), so the rest is from the server. Undefined: no tunnel is open yet.
 */
export function dividedAtTunnel(
  octets: Buffer,
): { readonly answer: Buffer; readonly rest: Buffer } | undefined {
  const end = octets.indexOf('\r\n\r\n') + 4;
  if (end < 4 || !octets.toString('latin1', 0, 10).startsWith('HTTP/1.1 2')) return undefined;
  return { answer: octets.subarray(0, end), rest: octets.subarray(end) };
}

/** Returns the host and the port of a URL, with the default port of its scheme (RFC 9110 section 4.2). */
export function authorityOf(url: string): {
  readonly host: string;
  readonly port: number;
  readonly authority: string;
} {
  const { protocol, hostname, port: named } = new URL(url);
  const port = Number(named || (protocol === 'https:' ? 443 : 80));
  return { host: hostname.replaceAll(/[[\]]/g, ''), port, authority: `${hostname}:${port}` };
}

/** The error if no answer can be shown. `reason`: for the log. */
export function notAnswered(reason: string): HttpError {
  const failed = new HttpError(503, 'The exchange was not answered. Try again in a moment.');
  failed.reason = reason;
  return failed;
}

/**
 * Reads an answer. Throws `HttpError` 503 if the octets are not an answer: an authorization server, or a proxy before
 * it, may end.
 */
export function readAnswer(octets: Buffer): ReadAnswer {
  const parts = partsOf(octets);
  const { first, fields } = parts;
  const [, status] = /^HTTP\/(?:1\.1|2) (\d{3}) /.exec(first) ?? [];
  if (status === undefined) throw notAnswered('the octets are no answer');
  const content = contentOf(parts);
  return { status: Number(status), fields, content: content.toString(), octets: content };
}

/** Returns the content of a message without its transfer coding. Throws `HttpError` 503 if the content is cut off. */
export function contentOf({ fields, content }: MessageParts): Buffer {
  const coded = fields.some(([name]) => name.toLowerCase() === 'transfer-encoding');
  return coded ? withoutChunks(content) : content;
}

/** Removes the chunked coding, which an authorization server behind a proxy may use (RFC 9112 section 7.1). */
function withoutChunks(content: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = content.indexOf('\r\n', at);
    const [, size] = /^([0-9a-f]{1,6})(?:;.*)?$/i.exec(content.toString('latin1', at, end)) ?? [];
    if (end === -1 || size === undefined) throw notAnswered('the answer has no whole chunk');
    const length = Number.parseInt(size, 16);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(content.subarray(end + 2, end + 2 + length));
    at = end + 4 + length;
  }
}

/** Returns the value of a field, with several lines joined (RFC 9110 section 5.3). */
export const fieldOf = ({ fields }: ReadAnswer, name: string): string =>
  fields
    .filter(([one]) => one.toLowerCase() === name.toLowerCase())
    .map(([, value]) => value)
    .join(', ');
