import type { SignedRequest } from '#shared/signatures/message.ts';
import { Unreadable } from './unreadable.ts';

/** A request as it was written to a file, for example by a proxy or a test. */
export interface RawRequest {
  readonly message: SignedRequest;
  readonly content: Buffer;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+)(?: HTTP\/\d(?:\.\d)?)?$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;

/**
 * Reads a request in the form of HTTP/1.1 (RFC 9112 section 2.1); its lines may end in LF alone, and an empty line and
 * all behind it may be missing. `origin`: where it was sent; default: https and its Host. Throws `Unreadable`.
 */
export function parseRawRequest(octets: Buffer, origin: string | undefined): RawRequest {
  const text = octets.toString('latin1');
  const [whole, head = text] = /^(.*?\n)\r?\n/s.exec(text) ?? [''];
  const [line = '', ...fieldLines] = head.trimEnd().split(/\r?\n/);
  const [, method = '', target = ''] = REQUEST_LINE.exec(line) ?? [];
  if (method === '')
    throw new Unreadable(`the first line is no request line: ${line.slice(0, 80)}`);
  const fields = fieldLines.map((field) => {
    const [, name = '', value = ''] = FIELD.exec(field) ?? [];
    if (name === '') throw new Unreadable(`this line is no field: ${field.slice(0, 80)}`);
    return [name.toLowerCase(), value.trim()] as const;
  });
  const lines = (name: string) => fields.flatMap(([of, value]) => (of === name ? [value] : []));
  const [host] = lines('host');
  const absolute = /^[a-z][a-z0-9+.-]*:\/\//i.test(target);
  if (!absolute && origin === undefined && !host) {
    throw new Unreadable('the request has no Host: name its origin with --origin');
  }
  const targetUri = absolute ? target : (origin ?? `https://${host}`) + target;
  if (!URL.canParse(targetUri)) throw new Unreadable(`${targetUri} is no URL`);
  return {
    message: { method, targetUri, requestTarget: target, lines },
    content: octets.subarray(whole.length || octets.length),
  };
}
