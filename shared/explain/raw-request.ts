import type { SignedRequest } from '#shared/signatures/message.ts';
import { readJwt } from './schemes/jwt.ts';
import { Unreadable } from './unreadable.ts';

/** A request that was written to a file, for example by a proxy or a test. */
export interface RawRequest {
  readonly message: SignedRequest;
  readonly content: Buffer;
  /** The names of the request's fields in lower case, with their values. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The reason for which the target URI is unknown; the message's target URI is then empty. */
  readonly flaw: string | undefined;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+)(?: HTTP\/\d(?:\.\d)?)?$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;

/**
 * Reads a request in the form of HTTP/1.1 (RFC 9112 section 2.1). Its lines may end with LF alone, and the empty line
 * and the content may be missing. `origin`: the server that received the request; default: derived from its tokens
 * and its Host. Throws `Unreadable`.
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
  const named = Map.groupBy(fields, ([name]) => name);
  const lines = (name: string) => (named.get(name) ?? []).map(([, value]) => value);
  const uri = targetUriOf(method, target, origin ?? originIn(lines));
  const targetUri = uri !== undefined && URL.canParse(uri) ? uri : '';
  const flaw = uri === undefined ? 'the request has no Host' : `${uri} is no URL`;
  return {
    message: { method, targetUri, requestTarget: target, lines },
    content: octets.subarray(whole.length || octets.length),
    fields,
    flaw: targetUri === '' ? flaw : undefined,
  };
}

/** Returns the target URI by the form of the target (RFC 9112 section 3.3); undefined if the request has no Host. */
function targetUriOf(
  method: string,
  target: string,
  origin: string | undefined,
): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) return target;
  if (method === 'CONNECT') return `https://${target}`;
  if (origin === undefined) return undefined;
  return target === '*' ? origin : origin + target;
}

/**
 * Returns the origin of a request: its Host, and a scheme, which the message does not contain. The scheme is that of
 * the first URL at this host, in the token's audience or else in the proof; without such a URL it is https.
 */
function originIn(lines: SignedRequest['lines']): string | undefined {
  const [host] = lines('host');
  if (!host) return undefined;
  const [, token = ''] = /^\S+ +(\S+)$/.exec(lines('authorization')[0] ?? '') ?? [];
  const { aud } = readJwt(token).payload ?? {};
  const { htu } = readJwt(lines('dpop')[0] ?? '').payload ?? {};
  const clear = URL.parse(`http://${host}`)?.origin;
  const origins = [aud, htu]
    .flat()
    .map((url: unknown) => (typeof url === 'string' ? URL.parse(url)?.origin : undefined));
  const found = origins.find(
    (origin) => origin === clear || origin === URL.parse(`https://${host}`)?.origin,
  );
  return `${found !== undefined && found === clear ? 'http' : 'https'}://${host}`;
}
