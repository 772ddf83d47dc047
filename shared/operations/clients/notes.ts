import * as z from 'zod';
import { namesOfNobody } from '#shared/people/named-by-client.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** Notes on a client that was registered or changed. */
export const notes = z
  .array(z.string())
  .exactOptional()
  .describe('in words: scopes that have no effect, names that no person has, and missing PKCE');

/** The note on names in rules of a client that no person has. */
export const noteOnNames = (names: readonly string[]): string =>
  `rules of the client name people who do not exist: ${names.join(', ')}. A person who gets such a name later is meant, too`;

/** Warns of a client that binds a code to nothing. */
export const noteOnPkce = ({ pkce }: Pick<ClientRecord, 'pkce'>): readonly string[] =>
  pkce === 'off'
    ? ['without PKCE and a nonce a stolen code can be used in another browser: prefer --pkce nonce']
    : [];

/** Returns the notes on a client, with those that need the directory, or no member if there are none. */
export async function allNotes(
  client: Parameters<typeof namesOfNobody>[0] & Pick<ClientRecord, 'pkce'>,
  { people }: Pick<Stores, 'people'>,
  own: readonly string[] = [],
): Promise<{ readonly notes?: string[] }> {
  const names = await namesOfNobody(client, people);
  const all = [...own, ...noteOnPkce(client), ...(names.length > 0 ? [noteOnNames(names)] : [])];
  return all.length > 0 ? { notes: all } : {};
}
