import type { Directory } from '#shared/people/directory.ts';
import { hasRules, mayUse, type UseRules } from '#shared/stores/oauth/use-rules.ts';

/**
 * Whether the client's rules let a person use it after a sign-in of this kind. The directory is read only if the client
 * has rules. A client that was removed has none.
 */
export async function mayUseNow(
  { directory }: { readonly directory: Pick<Directory, 'find'> },
  client: UseRules | undefined,
  accountId: string,
  acr: string | undefined,
): Promise<boolean> {
  if (client === undefined || !hasRules(client)) return true;
  const person = await directory.find(accountId);
  return person !== undefined && mayUse(client, person, acr);
}
