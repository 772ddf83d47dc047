import type { SignedRequest } from '#shared/signatures/message.ts';
import { readJwt } from './schemes/jwt.ts';
import { Unreadable } from './unreadable.ts';

/** A request as it was written to a file, for example by a proxy or a test. */
export interface RawRequest {
  readonly message: SignedRequest;
  readonly content: Buffer;
  /** The names of its fields in lower case, with their values. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Why nobody can say its target URI. Then that of the message is empty. */
  readonly flaw: string | undefined;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+)(?: HTTP\/\d(?:\.\d)?)?$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;

/**
 * Reads a request in the form of HTTP/1.1 (RFC 9112 section 2.1); its lines may end in LF alone, and an empty line and
 * all behind it may be missing. `origin`: where it was sent; default: as its tokens and its Host say. Throws `Unreadable`.
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

/** The target URI by the form of the target (RFC 9112 section 3.3). Undefined: the request has no Host. */
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
 * The origin of a request: its Host, and a scheme, which no message has. The first URL at this host says it: the audience
 * of the token, then the address in the proof; otherwise it is https.
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
