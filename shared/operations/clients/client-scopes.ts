import { nearest } from '#shared/base/nearest.ts';
import type { Config } from '#shared/config/schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import {
  ADMIN_READ_SCOPE,
  ADMIN_SCOPE,
  gnapSpaces,
  tokenSpaces,
} from '#shared/config/token-spaces.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import { InputError } from '../operation.ts';
import type { RuledClient } from './client-rules.ts';
import { ofPeople } from './grant-types.ts';
import { said } from '#shared/refusals/operations.ts';

/** Scopes that belong to no space: OpenID Connect Core 1.0 sections 3.1.2.1, 5.4 and 11. */
const OF_PEOPLE = ['openid', ...Object.keys(CLAIMS_OF_SCOPES), 'offline_access'];

/** Returns the scopes that spaces require. */
export const scopesOfSpaces = (config: Config): readonly string[] => [
  ...new Set(tokenSpaces(config).flatMap(({ scopes }) => Object.values(scopes).flat())),
];

/** Returns the notes on scopes without effect. Throws `InputError` if scopes do not fit the client. */
export function checkScopes(client: RuledClient, config: Config): { readonly notes?: string[] } {
  const all = parseScope(client.scope);
  const spaces = client.gnap ? gnapSpaces(config) : tokenSpaces(config);
  const open = spaces.filter(({ scopes }) => Object.values(scopes).flat().length === 0);
  const needsNone =
    client.introspects !== undefined || open.some(({ url }) => client.resources?.includes(url));
  if (all.size === 0 && !needsNone) {
    throw new InputError(['scope'], said('missing-scope'));
  }
  if (client.pkce === 'nonce' && !all.has('openid')) {
    throw new InputError(['pkce'], said('pkce-openid'));
  }
  const ruledOut = everySpace(config).find(
    ({ url, schemes, alg }) =>
      client.resources?.includes(url) && (!schemes.includes('DPoP') || alg === 'RS256'),
  );
  if (client.profile === 'fapi2' && ruledOut !== undefined) {
    throw new InputError(['resources'], said('fapi-space', { url: ruledOut.url }));
  }
  const beyond = parseScope(client.default_scope).difference(all);
  if (beyond.size > 0) {
    throw new InputError(
      ['default_scope'],
      said('default-beyond', { scopes: [...beyond].join(' ') }),
    );
  }
  const known = new Set(spaces.flatMap((space) => Object.values(space.scopes).flat()));
  const administers = [ADMIN_SCOPE, ADMIN_READ_SCOPE].filter((scope) => all.has(scope));
  if (administers.length > 0 && !client.admin && !ofPeople(client.grant_types)) {
    throw new InputError(['scope'], said('admin-scope', { scopes: administers.join(' ') }));
  }
  const further = new Set(ofPeople(client.grant_types) ? OF_PEOPLE : []);
  const unknown = [...all.difference(known).difference(further)];
  if (unknown.length === 0) return {};
  const meant = unknown.flatMap((scope) => nearest(scope, [...known, ...further]) ?? []);
  const asked = `no space asks for ${unknown.join(' ')}; they ask for: ${[...known].join(' ')}`;
  return {
    notes: [meant.length === 0 ? asked : `${asked}. Did you mean ${meant.join(' ')}?`],
  };
}
