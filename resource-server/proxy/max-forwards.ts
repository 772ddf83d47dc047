import { BadRequest, single } from '#shared/http/fields.ts';
import { allow, METHODS } from '#shared/http/methods.ts';
import type { Answer } from '#shared/server/answer.ts';
import type { AnyRequest } from '#shared/server/message.ts';

/** All but the preface of HTTP/2. */
const ALLOW = allow([...METHODS.keys()].filter((method) => method !== 'PRI'));

/** What TRACE must not show to whoever makes a browser send it (RFC 9110 section 9.3.8). */
const SECRET = /authorization|cookie|api-?key|dpop|concealed/i;

/**
 * How often a TRACE or OPTIONS may be forwarded from here (RFC 9110 section 7.6.2); undefined: it does
 * not say. Other methods may ignore the field. Throws BadRequest for what is no number.
 */
export function maxForwards({ method, rawHeaders }: AnyRequest): number | undefined {
  if (method !== 'TRACE' && method !== 'OPTIONS') return undefined;
  const value = single(rawHeaders, 'max-forwards');
  if (value === undefined) return undefined;
  if (!/^[0-9]{1,10}$/.test(value)) throw new BadRequest('Max-Forwards is a number.');
  return Number(value);
}

/** The answer of the final recipient of a TRACE or OPTIONS. */
export function answerHere(request: AnyRequest): Answer {
  const { method, url, httpVersion, rawHeaders } = request;
  if (method === 'OPTIONS') return { status: 204, fields: { Allow: ALLOW } };
  const text = [`TRACE ${url} HTTP/${httpVersion}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (!name.startsWith(':') && !SECRET.test(name)) text.push(`${name}: ${value}`);
  }
  return {
    status: 200,
    fields: { 'Content-Type': 'message/http', 'Cache-Control': 'no-store' },
    body: `${text.join('\r\n')}\r\n\r\n`,
  };
}
