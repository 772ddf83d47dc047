import { isDocumentUrl } from '#shared/client-documents/document-url.ts';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import { listConsents } from '#shared/people/access/consents.ts';
import type { Person } from '#shared/people/directory.ts';
import { startKeysFor } from '#shared/stores/oauth/client-keys.ts';
import { isFor } from '#shared/stores/oauth/use-rules.ts';
import { shownName } from '../../consent/shown-name.ts';
import type { PagesServer } from '../../base/server.ts';
import type { AccountStart } from '../frame/account-view.ts';
import type { Language } from '../frame/view.ts';

/**
 * Returns the applications that a person may open, by name: registered clients with a start URL, clients with a document
 * that the person has allowed something, and spaces at which people sign in. Of the clients for everybody, for each
 * group and for the person by name, at most 250 each.
 */
export async function startsOf(
  server: PagesServer,
  person: Person,
  language: Language,
): Promise<readonly AccountStart[]> {
  const [registered, described] = await Promise.all([
    registeredFor(server, person),
    documentsOf(server, person.id),
  ]);
  const clients = [...registered, ...described].flatMap((client) => {
    const { start_url: url, logo_uri: logo } = client;
    if (url === undefined || !isFor(client, person)) return [];
    return Object.assign({ name: shownName(client), url }, logo !== undefined && { logo });
  });
  const { compare } = new Intl.Collator(language, { numeric: true });
  return [...clients, ...spacesOf(server.config, person)].toSorted(
    (a, b) => compare(a.name, b.name) || compare(a.url, b.url),
  );
}

async function registeredFor({ stores }: PagesServer, { name, profile }: Person) {
  const keys = startKeysFor(name, profile?.groups);
  const found = await Promise.all(keys.map((key) => stores.clients.searchBeginning(key)));
  return new Map(found.flat().map((client) => [client.client_id, client])).values();
}

async function documentsOf(server: PagesServer, accountId: string) {
  const consents = await listConsents(server, accountId);
  const ids = new Set(consents.map(({ clientId }) => clientId).filter(isDocumentUrl));
  const found = await Promise.all([...ids].map((id) => server.documents.get(id)));
  return found.filter((client) => client !== undefined);
}

/** The spaces at the clear-text origin of the resource server are left out if it has a TLS origin, too. */
function spacesOf(config: Config, person: Person): readonly AccountStart[] {
  const isSecond = ({ url }: SpaceConfig) =>
    config.tls !== undefined && new URL(url).origin === config.resource;
  return everySpace(config)
    .filter((space) => isListed(space) && !isSecond(space) && mayEnter(space, person))
    .map(({ realm, url }) => ({ name: realm, url }));
}

const isListed = ({ signIn }: SpaceConfig): boolean =>
  signIn === true || (signIn !== undefined && signIn.hidden !== true);

const mayEnter = ({ allow }: SpaceConfig, { id, profile }: Person): boolean =>
  allow === undefined ||
  allow.people.includes(id) ||
  (profile?.groups ?? []).some((group) => allow.groups.includes(group));
