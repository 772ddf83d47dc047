import { HttpError } from '#shared/http/answer.ts';
import type { Entry } from '#shared/stores/trees/trees.ts';
import type { Space } from '../../space/spaces.ts';
import type { ResourceContext } from './resource.ts';

/** The longest name in bytes of UTF-8. */
const LONGEST_NAME = 255;
export const LONGEST_PATH = 1024;
/** The characters that `encodeURIComponent` leaves unchanged, and slashes. */
const PLAIN = /^[\w.~!*'()/-]*$/;

/**
 * Returns the path of a target within its space in the form of the rows: decoded segments joined by `/`. It is
 * never used as a file name. Throws 414 for a name over 255 bytes or a path over 1024.
 */
export function pathWithin({ space, target }: Pick<ResourceContext, 'space' | 'target'>): string {
  // macOS sends names decomposed. Both forms of é name the same resource.
  const names = target.segments.slice(space.segments.length).map((name) => name.normalize('NFC'));
  const path = names.join('/');
  if (
    Buffer.byteLength(path) > LONGEST_PATH ||
    names.some((name) => Buffer.byteLength(name) > LONGEST_NAME)
  ) {
    throw new HttpError(414, `A name has at most ${LONGEST_NAME} bytes, a path ${LONGEST_PATH}.`);
  }
  return path;
}

/**
 * Returns the path of a resource as an absolute-path reference, with a slash at the end for a collection (RFC 4918
 * section 5.2).
 */
export function hrefOf(space: Space, { path, kind }: Pick<Entry, 'path' | 'kind'>): string {
  const base = space.segments.join('/');
  const names = base === '' || path === '' ? base + path : `${base}/${path}`;
  const slash = kind === 'collection' && names !== '' ? '/' : '';
  return `/${PLAIN.test(names) ? names : names.split('/').map(encodeURIComponent).join('/')}${slash}`;
}

/** Returns the URL of a resource, for Location. */
export function urlOf(space: Space, resource: Pick<Entry, 'path' | 'kind'>): string {
  return `${space.origin}${hrefOf(space, resource)}`;
}

/** Returns the path of the parent collection. The parent of the root is the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}
