import Negotiator from 'negotiator';
import { MOST_MEMBERS } from './fields.ts';

/**
 * Returns the media type that Accept likes best (RFC 9110 section 12.5.1), of equal ones the first. Undefined: it likes
 * none. What follows the first 1,024 members is ignored.
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  types: readonly T[],
): T | undefined {
  const first = accept?.split(',', MOST_MEMBERS).join(',');
  const liked = new Negotiator({ headers: { accept: first } }).mediaType([...types]);
  return types.find((type) => type === liked);
}
