import type { Stores } from '#shared/stores/stores.ts';
import type { DirectoryContent } from './directory-content.ts';

/** Returns the id here of a person in the file; undefined if no person here has their name. */
export type PersonHere = (id: string) => Promise<string | undefined>;

/** Finds people of the file here by name, since they keep the id that they have here. */
export function peopleHere(
  { stores }: { readonly stores: Pick<Stores, 'people'> },
  { people }: Pick<DirectoryContent, 'people'>,
): PersonHere {
  const names = new Map(people.map(({ id, name }) => [id, name]));
  return async (id) => (await stores.people.getByName(names.get(id) ?? ''))?.id;
}
