import type { Config } from '#shared/config/schema.ts';
import type { Directory, Person } from '#shared/people/directory.ts';
import { isEnough } from '#shared/people/second-factor/need.ts';

interface Deciding {
  readonly config: Pick<Config, 'people'>;
}

/**
 * Whether an earlier sign-in of this kind still counts: people of whom a second factor is demanded by now get nothing new
 * from one with less.
 */
export const isEnoughNow = (
  { config }: Deciding,
  { profile }: Pick<Person, 'profile'>,
  acr: string | undefined,
): boolean => isEnough(config.people.secondFactor, profile?.groups, acr);

/** The same for who is known by their id alone; the directory is asked only if it matters. */
export async function mayStillGet(
  server: Deciding & { readonly directory: Pick<Directory, 'find'> },
  accountId: string,
  acr: string | undefined,
): Promise<boolean> {
  const rule = server.config.people.secondFactor;
  if (rule === 'off' || rule === 'optional') return true;
  const person = await server.directory.find(accountId);
  return person !== undefined && isEnoughNow(server, person, acr);
}
