import type { Config } from '#shared/config/schema.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { tokenIssuerSpaces, tokenSpaces } from '#shared/config/token-spaces.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { CLAIMS_OF_SCOPES, claimsOf } from '#shared/people/claims.ts';
import type { Person } from '#shared/people/directory.ts';
import { spaceScopes } from '../../resources/resource-indicators.ts';
import { textsOf } from '../texts/index.ts';
import type { AskedItem, Language } from '../frame/view.ts';

/** Scopes about the person alone, in the order in which they are shown (OpenID Connect Core 1.0 section 5.4). */
const PERSONAL = ['openid', ...Object.keys(CLAIMS_OF_SCOPES), 'offline_access'];

/** Of an authorization or device request, after the engine has checked and completed it. */
export interface AskedParams {
  readonly scope?: unknown;
  readonly resource?: unknown;
}

/** What a scope tells of the person at this moment, as it is. */
const told = (person: Person, scope: string): readonly string[] =>
  Object.values(claimsOf(person, new Set([scope])))
    .flat()
    .filter((value) => typeof value === 'string');

/**
 * What a request asks for that this client may have at all: the only things that can be allowed. With `person`,
 * who decides, what is told of them.
 */
export function askedItems(
  config: Parameters<typeof tokenSpaces>[0] & Pick<Config, 'scopeTexts'>,
  client: Pick<ClientRecord, 'scope'>,
  params: AskedParams,
  language: Language,
  person?: Person,
): readonly AskedItem[] {
  const asked = parseScope(typeof params.scope === 'string' ? params.scope : undefined);
  const allowed = parseScope(client.scope);
  const words = (scope: string) => {
    const text = config.scopeTexts[scope];
    return text?.[language] ?? text?.en;
  };
  const ownWords = (scope: string) => textsOf(language).scopes[scope];
  const values = (scope: string) => (person === undefined ? [] : told(person, scope));
  const personal = PERSONAL.filter((scope) => asked.has(scope)).map((scope) => ({
    id: scope,
    scope,
    text: words(scope) ?? ownWords(scope) ?? scope,
    values: values(scope),
    required: scope === 'openid',
  }));
  const spaces = tokenSpaces(config);
  const issuer = tokenIssuerSpaces(config)?.request.url;
  const resources = [params.resource].flat().filter((one) => typeof one === 'string');
  const others = resources.flatMap((resource) => {
    const space = spaces.find(({ url }) => url === resource || url === `${resource}/`);
    const known = space === undefined ? new Set<string>() : spaceScopes(space);
    const place = config.spaces.find(({ realm }) => realm === space?.realm)?.realm;
    const possible = [...asked].filter((scope) => allowed.has(scope) && known.has(scope));
    return possible.map((scope) => ({
      id: `${resource} ${scope}`,
      scope,
      text:
        words(scope) ??
        (resource === issuer || scope in CLAIMS_OF_SCOPES ? ownWords(scope) : undefined) ??
        scope,
      values: values(scope),
      resource,
      place,
      required: false,
    }));
  });
  return [...personal, ...others];
}

/** The items that a form allows; what was not asked cannot be in it, whatever was posted. */
export function allowedItems(
  asked: readonly AskedItem[],
  form: URLSearchParams,
): readonly AskedItem[] {
  const ticked = new Set(form.getAll('item'));
  return asked.filter(({ id, required }) => required || ticked.has(id));
}
