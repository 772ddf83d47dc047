import { contentLines, type FieldLine, type PlannedRequest } from './http1-message.ts';

/**
 * Writes a message of HTTP/2 for people, with a line for each field, followed by the content (RFC 9113 section 8.1).
 * These are not the octets on the wire, where fields are compressed (RFC 7541) and all is in frames.
 */
export function writeList(fields: readonly FieldLine[], content: Buffer = Buffer.alloc(0)): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${lines}\r\n`, 'latin1'), content]);
}

/** Writes a request as such a list of fields. Throws as `writeRequest`. */
export function writeRequestList(host: string, planned: PlannedRequest): Buffer {
  const { method, target, content } = planned;
  // Names are in lower case in HTTP/2 (RFC 9113 section 8.2).
  const lines = contentLines(planned).map(([name, value]) => [name.toLowerCase(), value] as const);
  const pseudo = [
    [':method', method],
    [':scheme', 'https'],
    [':authority', host],
    [':path', target],
  ] as const;
  return writeList([...pseudo, ...lines], Buffer.from(content ?? ''));
}
