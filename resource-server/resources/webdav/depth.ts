import { BadRequest, single } from '#shared/http/fields.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';

export type Depth = '0' | '1' | 'infinity';

const DEPTHS: ReadonlyMap<string, Depth> = new Map([
  ['0', '0'],
  ['1', '1'],
  ['infinity', 'infinity'],
]);

/**
 * Reads the Depth field (RFC 4918 section 10.2). Returns undefined if it is absent. Throws `BadRequest` for any
 * other value.
 */
export function depthOf({ rawHeaders }: Pick<AnyRequest, 'rawHeaders'>): Depth | undefined {
  const field = single(rawHeaders, 'depth');
  const depth = DEPTHS.get(field?.toLowerCase() ?? '');
  if (field !== undefined && depth === undefined) {
    throw new BadRequest('Depth is 0, 1 or infinity.');
  }
  return depth;
}
