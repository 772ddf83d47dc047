import { HttpError } from '#shared/server/answer.ts';
import type { Space } from '../spaces.ts';
import type { Visit } from './resource.ts';

const LONGEST_NAME = 255;
const LONGEST_PATH = 1024;

/**
 * Path of a visit's target within its space, as rows have it: decoded segments joined by `/`. It never becomes
 * a file name. Throws 414 for a name over 255 bytes or a path over 1024.
 */
export function pathWithin({ space, target }: Visit): string {
  const names = target.segments.slice(space.segments.length);
  const path = names.join('/');
  if (
    Buffer.byteLength(path) > LONGEST_PATH ||
    names.some((name) => Buffer.byteLength(name) > LONGEST_NAME)
  ) {
    throw new HttpError(414, `A name has at most ${LONGEST_NAME} bytes, a path ${LONGEST_PATH}.`);
  }
  return path;
}

/** URL of a document, for Location. */
export function urlOf(space: Space, path: string): string {
  const segments = [...space.segments, ...path.split('/')];
  return `${space.origin}/${segments.map(encodeURIComponent).join('/')}`;
}
