import { passed, type Plan, skipped } from './plan.ts';

const DYNAMIC = 'the suite omits it for clients that are registered by an operator';
const REQUEST_OBJECTS =
  'an unsigned request object is refused with request_not_supported, also if it has another redirect URI';

/** The modules, which are the same for both ways of the answer. */
const MODULES = {
  'oidcc-server': passed('a person signs in, and the ID token and userinfo name the same person'),
  'oidcc-response-type-missing': passed('a request without response_type is refused'),
  'oidcc-idtoken-signature': skipped(
    'an ID token is signed with the algorithm of the client',
    DYNAMIC,
  ),
  'oidcc-idtoken-unsigned': skipped('an unsigned ID token is issued on request', DYNAMIC),
  'oidcc-userinfo-get': passed('userinfo takes the token in the header of GET'),
  'oidcc-userinfo-post-header': passed('userinfo takes the token in the header of POST'),
  'oidcc-userinfo-post-body': passed('userinfo takes the token in the form of POST'),
  'oidcc-ensure-request-without-nonce-succeeds-for-code-flow': passed(
    'a request without nonce succeeds',
  ),
  'oidcc-scope-profile': passed('userinfo has all claims of the scope profile'),
  'oidcc-scope-email': passed('userinfo has the address, and the ID token does not'),
  'oidcc-scope-address': passed('userinfo has the postal address'),
  'oidcc-scope-phone': passed('userinfo has the number'),
  'oidcc-scope-all': passed('userinfo has the claims of all scopes'),
  'oidcc-alternate-happy-flow': passed('scopes and parameters may have any order'),
  'oidcc-display-page': passed('display=page is no error'),
  'oidcc-display-popup': passed('display=popup is no error'),
  'oidcc-prompt-login': passed('prompt=login asks for the password again, and auth_time is later'),
  'oidcc-prompt-none-not-logged-in': passed('prompt=none without a sign-in is login_required'),
  'oidcc-prompt-none-logged-in': passed('prompt=none gives the same sub and auth_time'),
  'oidcc-max-age-1': passed('max_age=1 asks for the password again, and auth_time is later'),
  'oidcc-max-age-10000': passed('max_age=10000 asks for nothing, and auth_time stays'),
  'oidcc-ensure-request-with-unknown-parameter-succeeds': passed(
    'a parameter that the server does not know is ignored',
  ),
  'oidcc-id-token-hint': passed('prompt=none with id_token_hint gives the same person'),
  'oidcc-login-hint': passed('login_hint is no error'),
  'oidcc-ui-locales': passed('ui_locales is no error'),
  'oidcc-claims-locales': passed('claims_locales is no error'),
  'oidcc-ensure-request-with-acr-values-succeeds': passed(
    'the acr of the ID token is among the requested acr_values',
  ),
  'oidcc-codereuse': passed('a code that is used again is invalid_grant'),
  'oidcc-codereuse-30seconds': passed(
    'a code that is used again after 30 seconds is invalid_grant, and its access token ends',
  ),
  'oidcc-ensure-registered-redirect-uri': passed(
    'a redirect URI that is not registered gets a page, and no redirect',
  ),
  'oidcc-ensure-post-request-succeeds': passed('the authorization endpoint takes POST'),
  'oidcc-server-client-secret-post': passed('a client authenticates with client_secret_post'),
  'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported': skipped(
    'a request object by reference is used or refused',
    DYNAMIC,
  ),
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported':
    passed(REQUEST_OBJECTS),
  'oidcc-claims-essential': passed('userinfo has a claim that the parameter claims names'),
  'oidcc-ensure-request-object-with-redirect-uri': passed(REQUEST_OBJECTS),
  'oidcc-refresh-token': passed(
    'a refresh gives new tokens of the same person, and none to another client',
  ),
  'oidcc-ensure-request-with-valid-pkce-succeeds': passed('a request with PKCE succeeds'),
} as const;

const VARIANT = { server_metadata: 'discovery', client_registration: 'static_client' } as const;

export const OIDC_BASIC = {
  name: 'oidcc-basic-certification-test-plan',
  title: 'OpenID Connect: Basic',
  variant: VARIANT,
  modules: MODULES,
} as const satisfies Plan;

export const OIDC_FORM_POST = {
  name: 'oidcc-formpost-basic-certification-test-plan',
  title: 'OpenID Connect: Form Post',
  variant: VARIANT,
  modules: MODULES,
} as const satisfies Plan;
