import Negotiator from 'negotiator';
import { MOST_MEMBERS } from './fields.ts';

/**
 * Returns the media type that Accept prefers (RFC 9110 section 12.5.1), the first if several are equal; undefined if
 * Accept allows none. Members after the first 1,024 are ignored.
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  types: readonly T[],
): T | undefined {
  const first = accept?.split(',', MOST_MEMBERS).join(',');
  const liked = new Negotiator({ headers: { accept: first } }).mediaType([...types]);
  return types.find((type) => type === liked);
}
