import { collectionMethods } from './collection.ts';
import { documentMethods } from './document.ts';
import type { Methods, Resources } from './resource.ts';
import type { Shelf } from './shelf.ts';

/** Documents on disk, shared by all who hold the scopes of their space. */
export function documents(shelf: Shelf): Resources {
  const collection = collectionMethods(shelf);
  const document = documentMethods(shelf);
  const withoutSlash = redirectToSlash(collection);
  return (target, space) => {
    if (target.trailingSlash || target.segments.length === 0) return collection;
    return target.segments.length === space.segments.length ? withoutSlash : document;
  };
}

/** The space itself, asked for without its slash: 308, which keeps method and content (RFC 9110 section 15.4.9). */
function redirectToSlash(collection: Methods): Methods {
  return new Map(
    [...collection.keys()].map((method) => [
      method,
      async (context) => {
        const { space, target } = context.state;
        const query = target.query === undefined ? '' : `?${target.query}`;
        context.body = null;
        context.status = 308;
        context.set('Location', `${space.origin}${target.path}/${query}`);
      },
    ]),
  );
}

/** Removes content files that no row names and that were last written more than `age` seconds ago. */
export function sweepContent(shelf: Shelf, age: number): Promise<number> {
  const { key, rows, content, clock } = shelf;
  const named = async () => new Set((await rows.list(key, '')).map(({ file }) => file));
  return content.sweep(named, clock, age);
}
