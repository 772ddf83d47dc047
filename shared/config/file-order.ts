import type { Mistake } from '#shared/base/mistake.ts';

/**
 * Returns each mistake once, in the order of the settings in the file. Settings that the file lacks, and environment
 * variables, come last among their siblings.
 */
export function inFileOrder(
  mistakes: readonly Mistake[],
  members: Readonly<Record<string, unknown>>,
): readonly Mistake[] {
  const unique = new Map(mistakes.map((one) => [`${one.path}: ${one.message}`, one]));
  return [...unique.values()]
    .map((mistake) => ({ mistake, place: placeOf(mistake.path, members) }))
    .toSorted((a, b) => comparePlaces(a.place, b.place))
    .map(({ mistake }) => mistake);
}

/** Returns the position of each member of a path among its siblings, as far as the file has the path. */
function placeOf(path: string, members: unknown): readonly number[] {
  const place: number[] = [];
  let value = members;
  let rest = path;
  while (typeof value === 'object' && value !== null && rest !== '') {
    const keys = Object.keys(value);
    const left = rest;
    // A key of a record may have dots, such as an origin.
    const key = keys.find((one) => left === one || left.startsWith(`${one}.`));
    place.push(key === undefined ? keys.length : keys.indexOf(key));
    if (key === undefined) break;
    value = (value as Readonly<Record<string, unknown>>)[key];
    rest = left.slice(key.length + 1);
  }
  return place;
}

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((position, index) => position !== b[index]);
  return at === -1 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1);
}
