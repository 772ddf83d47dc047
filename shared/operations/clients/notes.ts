import * as z from 'zod';
import { namesOfNobody } from '#shared/people/named-by-client.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** Notes on a client that was registered or changed. */
export const notes = z
  .array(z.string())
  .exactOptional()
  .describe('in words: scopes that have no effect, and names that no person has');

/** The note on names in rules of a client that no person has. */
export const noteOnNames = (names: readonly string[]): string =>
  `rules of the client name people who do not exist: ${names.join(', ')}. A person who gets such a name later is meant, too`;

/** Returns the notes on a client, with those that need the directory, or no member if there are none. */
export async function allNotes(
  client: Parameters<typeof namesOfNobody>[0],
  { people }: Pick<Stores, 'people'>,
  own: readonly string[] = [],
): Promise<{ readonly notes?: string[] }> {
  const names = await namesOfNobody(client, people);
  const all = [...own, ...(names.length > 0 ? [noteOnNames(names)] : [])];
  return all.length > 0 ? { notes: all } : {};
}
