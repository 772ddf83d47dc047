import * as z from 'zod';
import { PKCE_MODES, PROFILES } from '#shared/stores/oauth/clients.ts';
import { LEVELS } from '#shared/jose/acr.ts';
import { isScopeToken, parseScope } from '#shared/jose/scope.ts';
import { cspSource } from '#shared/pages/csp-source.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import { isVisibleName } from '#shared/people/names/visible-name.ts';
import { groupName } from '#shared/people/profile-schema.ts';
import { personName } from '../people/person-name.ts';
import { SPELLINGS } from '../texts.ts';
import { claimRules } from './claim-rules-member.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** The algorithms for ID tokens; the first is the default of clients (OpenID Connect Registration 1.0 section 2). */
export const ID_TOKEN_ALGS = ['RS256', 'ES256'] as const;

/** The visible name of a client or of an application. */
export const visibleName = z.string().refine(isVisibleName, fault(said('visible-name')));

/** Scopes separated by spaces, each once (RFC 6749 section 3.3). */
export const scopes = z
  .string()
  .max(4096, fault(said('too-long', { most: 4096 })))
  .refine(
    (text) => [...parseScope(text)].every(isScopeToken),
    fault((input) => {
      const wrong = [...parseScope(String(input))].find((token) => !isScopeToken(token)) ?? '';
      return said('not-scope', { token: wrong });
    }),
  )
  .transform((text) => [...parseScope(text)].join(' '));

/** The most values of a list, since each token and each page may read the whole list. */
const MOST_VALUES = 1000;

/** Returns the schema of values that may occur once each. */
const each = (one: z.ZodType<string>) =>
  z
    .array(one)
    .min(1, fault(said('too-few', { least: 1 })))
    .max(MOST_VALUES, fault(said('too-many', { most: MOST_VALUES })))
    .transform((values) => [...new Set(values)]);

const uri = z.string().max(2048, fault(said('too-long', { most: 2048 })));

const origin = uri.refine(
  (text) => URL.parse(text)?.origin === text && /^https?:/.test(text),
  fault(said('origin')),
);

/** An address that receives logout tokens (OpenID Connect Back-Channel Logout 1.0 section 2.2). */
const logoutUrl = uri.refine(isLogoutUrl, fault(said('logout-url'))).transform(hrefOf);

function isLogoutUrl(text: string): boolean {
  return isPageUrl(text) && !text.includes('#');
}

/** An address that a browser can open. */
const startUrl = uri.refine(isPageUrl, fault(said('start-url'))).transform(hrefOf);

function isPageUrl(text: string): boolean {
  const url = URL.parse(text);
  const fits = url?.protocol === 'https:' || url?.protocol === 'http:';
  return fits && url.username === '' && url.password === '';
}

/** Without white space around it, and with all other characters in their escaped form. */
function hrefOf(text: string): string {
  return new URL(text).href;
}

/** The address of a picture that pages may show. */
const pictureUrl = z
  .string()
  .refine(isPictureUrl, fault(said('logo-url')))
  .transform(hrefOf);

function isPictureUrl(text: string): boolean {
  const url = URL.parse(text);
  const fits = url?.protocol === 'https:' && url.username === '' && url.password === '';
  return fits && text.length <= 1024 && cspSource(url.href) !== undefined;
}

const flag = z.boolean().exactOptional();

/** The members of a client that can be changed later (from RFC 7591 section 2, and our own). */
export const clientMembers = {
  logo_uri: pictureUrl
    .exactOptional()
    .describe('the URL of a logo (https): at sign-in and consent, and beside the start URL')
    .register(SPELLINGS, { value: 'URL' }),
  scope: scopes
    .exactOptional()
    .describe('all scopes that the client may request')
    .register(SPELLINGS, { value: '"A B"' }),
  default_scope: scopes
    .exactOptional()
    .describe('the scopes of a request without scopes; default: all of --scope')
    .register(SPELLINGS, { value: '"A"' }),
  redirect_uris: each(uri)
    .exactOptional()
    .describe('a URI to which the browser may bring the authorization code')
    .register(SPELLINGS, { option: 'redirect-uri', value: 'URI' }),
  post_logout_redirect_uris: each(uri)
    .exactOptional()
    .describe('a URI to which the browser may go after sign-out')
    .register(SPELLINGS, { option: 'post-logout-redirect-uri', value: 'URI' }),
  backchannel_logout_uri: logoutUrl
    .exactOptional()
    .describe('where the application is told that a session has ended (back-channel logout)')
    .register(SPELLINGS, { option: 'logout-url', value: 'URL' }),
  start_url: startUrl
    .exactOptional()
    .describe('where people begin; the account page lists the application with this link')
    .register(SPELLINGS, { value: 'URL' }),
  id_token_signed_response_alg: z
    .enum(ID_TOKEN_ALGS)
    .exactOptional()
    .describe(`algorithm of ID tokens: ${ID_TOKEN_ALGS.join(' or ')}; default: ${ID_TOKEN_ALGS[0]}`)
    .register(SPELLINGS, { option: 'id-token-alg', value: 'ALG' }),
  pkce: z
    .enum(PKCE_MODES)
    .exactOptional()
    .describe('when PKCE may be left out: required (never), nonce (with openid and a nonce), off')
    .register(SPELLINGS, { value: 'MODE' }),
  profile: z
    .enum(PROFILES)
    .exactOptional()
    .describe('fapi2: PAR, DPoP, private_key_jwt and PKCE, as FAPI 2.0 demands')
    .register(SPELLINGS, { value: 'PROFILE' }),
  first_party: flag.describe(
    'your own application: needs no consent; people can end its access on the account page',
  ),
  allow_groups: each(groupName)
    .exactOptional()
    .describe('only people in this group, or named by --allow-person, may use the client')
    .register(SPELLINGS, { option: 'allow-group', value: 'GROUP' }),
  allow_people: each(personName.transform((name) => usernameCaseMapped(name) ?? name))
    .exactOptional()
    .describe('only this person, and people in an --allow-group, may use the client')
    .register(SPELLINGS, { option: 'allow-person', value: 'NAME' }),
  minimum_acr: z
    .enum(LEVELS)
    .exactOptional()
    .describe('the weakest sign-in that the client accepts: second-factor or passkey')
    .register(SPELLINGS, { option: 'acr', value: 'LEVEL' }),
  admin: flag.describe(
    'the client may administer this server: scope admin, or admin:read for reading only',
  ),
  origins: each(origin)
    .exactOptional()
    .describe('an origin whose scripts may use the client, besides those of the redirect URIs')
    .register(SPELLINGS, { option: 'origin', value: 'ORIGIN' }),
  resources: each(uri)
    .exactOptional()
    .describe(
      'a space for which the client gets tokens; default: all; no --scope if it has no scopes',
    )
    .register(SPELLINGS, { option: 'resource', value: 'URL' }),
  introspects: each(uri)
    .exactOptional()
    .describe('a space whose tokens the client may introspect')
    .register(SPELLINGS, { value: 'URL' }),
  claim_rules: claimRules
    .exactOptional()
    .describe(
      'a claim of its tokens: CLAIM=VALUE, CLAIM=VALUE if CONDITION; the first match counts',
    )
    .register(SPELLINGS, { option: 'claim', value: 'RULE' }),
};

/** The values of the members in `clientMembers`. */
export type ClientMembers = z.output<z.ZodObject<typeof clientMembers>>;
