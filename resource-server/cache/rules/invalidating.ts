import { lines as valuesIn } from '#shared/http/fields.ts';
import { METHODS } from '#shared/http/methods.ts';
import type { Invalidation } from '#shared/stores/cache/invalidations.ts';
import { groupOf } from '#shared/http/spelling.ts';
import { valuesOf } from './lines.ts';
import { targetOf } from './references.ts';
import type { Asked, Given } from './rules.ts';

/** The target to invalidate, in the spelling of `groupOf`. For a tree only its path. */
export type Forgotten = Pick<Invalidation, 'kind' | 'value'>;

/** Methods that remove or create a collection with all its members (RFC 4918 sections 9.6.1, 9.8.3 and 9.9.2). */
const TREES: ReadonlyMap<string, readonly ('target' | 'destination')[]> = new Map([
  ['DELETE', ['target']],
  ['MOVE', ['target', 'destination']],
  ['COPY', ['destination']],
]);

/** Returns whether a method may change something. Unknown methods may (RFC 9111 section 4.4). */
export function isUnsafe(method: string): boolean {
  return METHODS.get(method)?.safe !== true;
}

/** Returns the targets that an unsafe request invalidates, whatever its answer is (RFC 9111 section 4.4). */
export function changedBy(
  { method, target, rawHeaders }: Pick<Asked, 'method' | 'target' | 'rawHeaders'>,
  origin: string,
): readonly Forgotten[] {
  if (!isUnsafe(method)) return [];
  const [named] = valuesIn(rawHeaders, 'destination');
  const destination = named === undefined ? undefined : targetOf(named, target, origin);
  const places = { target, destination };
  return unique([
    { kind: 'target', value: groupOf(target) },
    ...(TREES.get(method) ?? []).flatMap((place) => treeOf(places[place])),
  ]);
}

/**
 * Returns the targets that an unsafe request and its answer invalidate. An error invalidates nothing (RFC 9111 section
 * 4.4).
 */
export function invalidatedBy(
  asked: Pick<Asked, 'method' | 'target' | 'rawHeaders'>,
  { status, lines }: Given,
  origin: string,
): readonly Forgotten[] {
  if (status < 200 || status >= 400 || !isUnsafe(asked.method)) return [];
  const named = ['location', 'content-location']
    .flatMap((name) => valuesOf(lines, name))
    .flatMap((reference) => targetOf(reference, asked.target, origin) ?? []);
  return unique([
    ...changedBy(asked, origin),
    ...named.map((target) => ({ kind: 'target', value: groupOf(target) }) as const),
  ]);
}

function treeOf(target: string | undefined): readonly Forgotten[] {
  const path = target?.split('?')[0];
  return path === undefined ? [] : [{ kind: 'tree', value: groupOf(path) }];
}

function unique(all: readonly Forgotten[]): readonly Forgotten[] {
  return [...new Map(all.map((one) => [`${one.kind} ${one.value}`, one])).values()];
}
