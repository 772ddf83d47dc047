import { isSignInClient } from '#shared/config/sign-in-clients.ts';
import { shownName } from '../../consent/shown-name.ts';
import type { PagesServer } from '../../base/server.ts';
import type { Language } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';

/** Returns the name of a client for people. A registered client that an operator has removed is named by its id. */
export async function clientName(
  { stores }: Pick<PagesServer, 'stores'>,
  id: string,
  language: Language,
): Promise<string> {
  const client = await stores.clients.get(id);
  if (client !== undefined) return shownName(client);
  return isSignInClient(id) ? textsOf(language).account.goneApplication : id;
}
