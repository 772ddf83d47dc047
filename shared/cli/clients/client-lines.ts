import type { ShownClient } from '#shared/operations/clients/client-shown.ts';
import { shortNames } from '#shared/operations/clients/grant-types.ts';
import { minute } from '../lines/last-use.ts';

/** Returns the output about a client for people: a line for each property. */
export function clientLines(client: ShownClient): readonly string[] {
  const lines: readonly (readonly [string, string | readonly string[] | undefined])[] = [
    ['client_id', client.client_id],
    ['name', client.client_name],
    ['logo', client.logo_uri],
    ['grants', shortNames(client.grant_types)],
    [
      'authentication',
      client.gnap ? 'the key of its signatures (GNAP)' : client.token_endpoint_auth_method,
    ],
    ['registered', client.gnap?.unknown ? 'no: a person allowed it' : undefined],
    ['description fetched', client.document && minute(client.document.fetched)],
    ['named by an operator', client.document && (client.document.registered ? 'yes' : 'no')],
    ['bearer tokens', client.gnap?.bearer ? 'it may have them' : undefined],
    [
      'old secret ends',
      client.former_secret_until === undefined ? undefined : minute(client.former_secret_until),
    ],
    ['keys', client.jwks?.keys.map((key) => String(key['kid'] ?? key['kty']))],
    ['scope', client.scope || undefined],
    ['default scope', client.default_scope],
    ['resource', client.resources],
    ['introspects', client.introspects],
    ['redirect URI', client.redirect_uris],
    ['redirect URI after sign-out', client.post_logout_redirect_uris],
    ['logout URL', client.backchannel_logout_uri],
    ['start URL', client.start_url],
    ['origin', client.origins],
    ['claim', client.claim_rules],
    ['application', client.application_type],
    ['ID tokens', client.id_token_signed_response_alg],
    ['PKCE', client.pkce],
    ['profile', client.profile],
    ['first party', client.first_party ? 'people are not asked to allow it' : undefined],
    ['group that may use it', client.allow_groups],
    ['person who may use it', client.allow_people],
    ['weakest sign-in', client.minimum_acr],
    ['administrator', client.admin ? 'it may administer this server' : undefined],
    ['demo', client.demo ? 'refused in production' : undefined],
    ['added', minute(client.created_at)],
  ];
  return lines.flatMap(([name, value = []]) => [value].flat().map((text) => `${name}: ${text}`));
}
