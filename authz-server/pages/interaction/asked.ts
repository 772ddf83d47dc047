import type { Config } from '#shared/config/schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import { tokenIssuerSpaces } from '#shared/config/token-spaces.ts';
import { CLAIMS_OF_SCOPES, claimsOf } from '#shared/people/claims.ts';
import type { ScopeItem } from '#shared/people/access/consents.ts';
import { ruledClaims } from '#shared/people/told-claims.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Person } from '#shared/people/directory.ts';
import { type AskedParams, askedScopes } from '../../consent/asked.ts';
import { textsOf } from '../texts/index.ts';
import type { AskedItem, Language } from '../frame/view.ts';

/**
 * Returns the person's current values of the claims that a scope gives. `openid` gives the claims by rule, each with its
 * name. Without a person it is empty.
 */
export function told(
  person: Person | undefined,
  scope: string,
  { claim_rules: rules }: Pick<ClientRecord, 'claim_rules'>,
): readonly string[] {
  if (person === undefined) return [];
  const ruled = ruledClaims(rules, person);
  if (scope === 'openid') {
    return Object.entries(ruled).map(([claim, value]) => `${claim}: ${String(value)}`);
  }
  return Object.entries(claimsOf(person, new Set([scope])))
    .filter(([claim]) => !Object.hasOwn(ruled, claim))
    .flatMap(([, value]) => (value instanceof Object ? Object.values(value) : value))
    .filter((value) => typeof value === 'string');
}

/**
 * Returns the items that a request asks for, in words. With `person` it adds the values of the claims that the items
 * would give.
 */
export function askedItems(
  config: Parameters<typeof askedScopes>[0] & Pick<Config, 'scopeTexts'>,
  client: Pick<ClientRecord, 'client_id' | 'scope' | 'claim_rules'>,
  params: AskedParams,
  language: Language,
  person?: Person,
): readonly AskedItem[] {
  return itemsInWords(config, askedScopes(config, client, params), language, ({ scope }) =>
    told(person, scope, client),
  );
}

/** Returns items in words, each with its details. */
export function itemsInWords(
  config: Parameters<typeof askedScopes>[0] & Pick<Config, 'scopeTexts'>,
  items: readonly ScopeItem[],
  language: Language,
  detailsOf: (item: ScopeItem) => readonly string[],
): readonly AskedItem[] {
  const issuer = tokenIssuerSpaces(config)?.request.url;
  const words = (scope: string, isOurs: boolean) => {
    const text = config.scopeTexts[scope];
    const own = isOurs ? textsOf(language).scopes[scope] : undefined;
    return text?.[language] ?? text?.en ?? own ?? scope;
  };
  const realmOf = (resource: string) =>
    everySpace(config).find(({ url }) => url === resource || url === `${resource}/`)?.realm;
  return items.map((item) => {
    const { scope, resource } = item;
    const values = detailsOf(item);
    if (resource === undefined) {
      return { id: scope, scope, text: words(scope, true), values, required: scope === 'openid' };
    }
    const text = words(scope, resource === issuer || scope in CLAIMS_OF_SCOPES);
    const place = realmOf(resource);
    return { id: `${resource} ${scope}`, scope, text, values, resource, place, required: false };
  });
}

/** Returns the items that a form allows. Items that the client did not ask for are ignored. */
export function allowedItems(
  asked: readonly AskedItem[],
  form: URLSearchParams,
): readonly AskedItem[] {
  const ticked = new Set(form.getAll('item'));
  return asked.filter(({ id, required }) => required || ticked.has(id));
}
