import type { Config } from '#shared/config/schema.ts';
import type { Identity } from '#shared/stores/people/people.ts';
import type { Directory, Person } from '#shared/people/directory.ts';
import { isEnough } from '#shared/people/second-factor/need.ts';

interface Deciding {
  readonly config: Pick<Config, 'people'>;
}

/**
 * Whether an earlier sign-in is still strong enough: a person who needs a second factor by now gets no new tokens or
 * grants from a sign-in without one.
 */
export const isEnoughNow = (
  { config }: Deciding,
  { profile }: Pick<Person, 'profile'>,
  acr: string | undefined,
): boolean => isEnough(config.people.secondFactor, profile?.groups, acr);

/** Whether an earlier sign-in by an account elsewhere still counts: its source is in the configuration. */
export const isSourceThere = (
  { config }: { readonly config: Pick<Config, 'sources'> },
  identity: Identity | undefined,
): boolean => identity === undefined || config.sources.some(({ name }) => name === identity.source);

/**
 * As `isEnoughNow`, for a person of whom only the id is known. The directory is read only if the result depends on it.
 */
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
