import { isJson } from '../../answers/media-type.ts';
import type { Collection, Document } from '#shared/stores/trees/trees.ts';
import type { Place } from './place.ts';

const READ = ['GET', 'HEAD', 'PROPFIND', 'COPY'];
const WRITE = ['PROPPATCH', 'LOCK', 'UNLOCK', 'MOVE', 'DELETE'];
const DOCUMENT = [...READ, ...WRITE, 'PUT'];

/** The methods that each kind of resource accepts. For missing resources: the methods that can create one. */
export const METHODS_OF = {
  /** The root cannot be removed or moved (RFC 4918 section 5). */
  root: ['GET', 'HEAD', 'POST', 'QUERY', 'PROPFIND', 'PROPPATCH', 'LOCK', 'UNLOCK'],
  collection: [...READ, ...WRITE, 'POST', 'QUERY'],
  document: DOCUMENT,
  json: [...DOCUMENT, 'PATCH', 'QUERY'],
  /** A stored query or its result (RFC 10008 sections 2.3 and 2.4). */
  kept: ['GET', 'HEAD'],
  missing: ['PUT', 'PATCH', 'MKCOL', 'LOCK'],
  /** A missing resource whose path ends in a slash (RFC 4918 section 9.3). */
  missingCollection: ['MKCOL'],
  possible: [...DOCUMENT, 'PATCH', 'QUERY', 'POST', 'MKCOL'],
  possibleCollection: [...READ, ...WRITE, 'POST', 'QUERY', 'MKCOL'],
} as const;

/** The parts of a place by which its kind is decided. */
interface Seen extends Pick<Place, 'path' | 'slash'> {
  readonly entry: Pick<Document, 'kind' | 'type'> | Pick<Collection, 'kind'> | undefined;
}

export function kindOf({ entry, path, slash }: Seen): keyof typeof METHODS_OF {
  if (path === '') return 'root';
  if (entry === undefined) return slash ? 'missingCollection' : 'missing';
  if (entry.kind === 'collection') return 'collection';
  return isJson(entry.type) ? 'json' : 'document';
}
