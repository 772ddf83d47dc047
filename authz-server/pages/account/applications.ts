import type { Consent } from '#shared/people/access/consents.ts';
import type { ListedAccess } from '#shared/people/access/grants.ts';
import type { PagesServer } from '../../base/server.ts';
import type { AccountApplication } from '../frame/account-view.ts';
import type { Language } from '../frame/view.ts';
import { itemsInWords } from '../interaction/asked.ts';
import { clientName } from './client-name.ts';

/** Returns each application once, the most recently used or allowed first, with its grants in browsers and devices. */
export async function applicationsOf(
  server: PagesServer,
  accesses: readonly ListedAccess[],
  consents: readonly Consent[],
  language: Language,
): Promise<readonly AccountApplication[]> {
  const grants = Map.groupBy(accesses, ({ clientId }) => clientId);
  const decisions = Map.groupBy(consents, ({ clientId }) => clientId);
  const ids = new Set([...grants.keys(), ...decisions.keys()]);
  const inWords = ([resource, granted]: [string, readonly string[]]) => {
    const items = granted.map((scope) => (resource === '' ? { scope } : { scope, resource }));
    return itemsInWords(server.config, items, language, () => []).map(({ text }) => text);
  };
  const listed = [...ids].map(async (id) => {
    const own = grants.get(id) ?? [];
    const scopes = [
      ...own.map((access) => access.scopes),
      ...(decisions.get(id) ?? []).map(({ allowed }) => allowed),
    ];
    return {
      id,
      name: await clientName(server, id, language),
      items: [...new Set(scopes.flatMap((some) => Object.entries(some).flatMap(inWords)))],
      accesses: own.map(({ grantId, since, lastIssue, device, browser }) =>
        Object.assign(
          { id: grantId, since, isDevice: device !== undefined },
          lastIssue !== undefined && { lastIssue },
          device ?? browser,
        ),
      ),
    };
  });
  return Promise.all(listed);
}
