import { isJson } from '../../answers/media-type.ts';
import type { Place } from './place.ts';

const READ = ['GET', 'HEAD', 'PROPFIND', 'COPY'];
const WRITE = ['PROPPATCH', 'LOCK', 'UNLOCK', 'MOVE', 'DELETE'];
const DOCUMENT = [...READ, ...WRITE, 'PUT'];

/** What each kind of resource accepts. Of what is missing: what can create it. */
export const METHODS_OF = {
  /** RFC 4918 section 5: it cannot go or be somewhere else. */
  root: ['GET', 'HEAD', 'POST', 'QUERY', 'PROPFIND', 'PROPPATCH', 'LOCK', 'UNLOCK'],
  collection: [...READ, ...WRITE, 'POST', 'QUERY'],
  document: DOCUMENT,
  json: [...DOCUMENT, 'PATCH', 'QUERY'],
  /** A query, or its result (RFC 10008 sections 2.3 and 2.4). */
  kept: ['GET', 'HEAD'],
  missing: ['PUT', 'PATCH', 'MKCOL', 'LOCK'],
  /** With a slash at the end: RFC 4918 section 9.3. */
  missingCollection: ['MKCOL'],
  possible: [...DOCUMENT, 'PATCH', 'QUERY', 'POST', 'MKCOL'],
  possibleCollection: [...READ, ...WRITE, 'POST', 'QUERY', 'MKCOL'],
} as const;

export function kindOf({ entry, path, slash }: Place): keyof typeof METHODS_OF {
  if (path === '') return 'root';
  if (entry === undefined) return slash ? 'missingCollection' : 'missing';
  if (entry.kind === 'collection') return 'collection';
  return isJson(entry.type) ? 'json' : 'document';
}
