import type { Config } from '#shared/config/schema.ts';
import { tokenIssuerSpaces } from '#shared/config/token-spaces.ts';
import { CLAIMS_OF_SCOPES, claimsOf } from '#shared/people/claims.ts';
import type { Person } from '#shared/people/directory.ts';
import { type AskedParams, askedScopes } from '../../consent/asked.ts';
import { textsOf } from '../texts/index.ts';
import type { AskedItem, Language } from '../frame/view.ts';

/** Returns the current values of the claims that a scope tells about the person. */
const told = (person: Person, scope: string): readonly string[] =>
  Object.values(claimsOf(person, new Set([scope])))
    .flat()
    .filter((value) => typeof value === 'string');

/** Returns the items that a request asks for, in words; with `person`, also the claims that they would give. */
export function askedItems(
  config: Parameters<typeof askedScopes>[0] & Pick<Config, 'scopeTexts'>,
  client: Parameters<typeof askedScopes>[1],
  params: AskedParams,
  language: Language,
  person?: Person,
): readonly AskedItem[] {
  const issuer = tokenIssuerSpaces(config)?.request.url;
  const words = (scope: string, isOurs: boolean) => {
    const text = config.scopeTexts[scope];
    const own = isOurs ? textsOf(language).scopes[scope] : undefined;
    return text?.[language] ?? text?.en ?? own ?? scope;
  };
  return askedScopes(config, client, params).map(({ scope, resource, realm }) => {
    const values = person === undefined ? [] : told(person, scope);
    if (resource === undefined) {
      return { id: scope, scope, text: words(scope, true), values, required: scope === 'openid' };
    }
    const text = words(scope, resource === issuer || scope in CLAIMS_OF_SCOPES);
    const place = config.spaces.some((space) => space.realm === realm) ? realm : undefined;
    return { id: `${resource} ${scope}`, scope, text, values, resource, place, required: false };
  });
}

/** The items that a form allows; what was not asked cannot be in it, whatever was posted. */
export function allowedItems(
  asked: readonly AskedItem[],
  form: URLSearchParams,
): readonly AskedItem[] {
  const ticked = new Set(form.getAll('item'));
  return asked.filter(({ id, required }) => required || ticked.has(id));
}
