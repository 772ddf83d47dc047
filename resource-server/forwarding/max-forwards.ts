import { BadRequest, single } from '#shared/http/fields.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';

/**
 * The number of times that a TRACE or OPTIONS may be forwarded (RFC 9110 section 7.6.2). Undefined: no limit. Other
 * methods may ignore the field. Throws BadRequest if the value is not a number.
 */
export function maxForwards({
  method,
  rawHeaders,
}: Pick<AnyRequest, 'method' | 'rawHeaders'>): number | undefined {
  if (method !== 'TRACE' && method !== 'OPTIONS') return undefined;
  const value = single(rawHeaders, 'max-forwards');
  if (value === undefined) return undefined;
  if (!/^[0-9]{1,10}$/.test(value)) throw new BadRequest('Max-Forwards is a number.');
  return Number(value);
}
