import type { Invalidation, KeptInvalidation } from '../../cache/invalidations.ts';
import { writePosition } from '../../revocation/feed-position.ts';
import type { EntryId } from '../revocation/revocation-stream.ts';

/** In the slot of the revocations: one question is for both. */
export function invalidationStream(prefix: string): string {
  return `{${prefix}}:invalidations`;
}

/** The first entry of the stream, which says nothing: behind it stands whoever came before there was any. */
export const INVALIDATIONS_START: EntryId = '0-1';

const KINDS: ReadonlySet<string> = new Set<Invalidation['kind']>(['target', 'tree', 'ban']);

const isKind = (kind: string | undefined): kind is Invalidation['kind'] =>
  kind !== undefined && KINDS.has(kind);

/** The fields of an entry in their order. */
export function invalidationFields({ space, kind, value, soft }: Invalidation): readonly string[] {
  return [space, kind, value, soft ? '1' : '0'];
}

/** Reads the fields of an entry, names and values in turn. Undefined for what cannot be understood. */
export function readInvalidation(
  epoch: string,
  id: EntryId,
  fields: readonly string[],
): KeptInvalidation | undefined {
  const [first, space, second, kind, third, value, fourth, soft] = fields;
  if ([first, second, third, fourth].join() !== 'space,kind,value,soft') return undefined;
  if (space === undefined || !isKind(kind) || value === undefined) return undefined;
  const position = writePosition({ epoch, entry: id });
  return { space, kind, value, soft: soft === '1', at: Number(id.split('-')[0]), position };
}
