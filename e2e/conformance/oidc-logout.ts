import { passed, type Plan } from './plan.ts';

const VARIANT = {
  client_auth_type: 'client_secret_basic',
  response_type: 'code',
  response_mode: 'default',
  server_metadata: 'discovery',
  client_registration: 'static_client',
} as const;

const NO_REDIRECT = 'gets a page, and no redirect';

export const OIDC_LOGOUT = {
  name: 'oidcc-rp-initiated-logout-certification-test-plan',
  title: 'OpenID Connect: RP-Initiated Logout',
  variant: VARIANT,
  modules: {
    'oidcc-rp-initiated-logout-discovery-endpoint-verification': passed(
      'the metadata have end_session_endpoint',
    ),
    'oidcc-rp-initiated-logout': passed(
      'the person is signed out, and returns to the application with state',
    ),
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': passed(
      `an address that is not registered ${NO_REDIRECT}, also after the sign-out`,
    ),
    'oidcc-rp-initiated-logout-modified-id-token-hint': passed(
      `an ID token with another signature ${NO_REDIRECT}`,
    ),
    'oidcc-rp-initiated-logout-no-id-token-hint': passed(
      'without an ID token the server asks the person first, or does not redirect',
    ),
    'oidcc-rp-initiated-logout-no-params': passed(
      'without parameters the person is signed out, on a page of the server',
    ),
    'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': passed(
      'without an address the person is signed out, on a page of the server',
    ),
    'oidcc-rp-initiated-logout-no-state': passed(
      'without state the person returns to the application without state',
    ),
    'oidcc-rp-initiated-logout-only-state': passed(
      'with state alone the person is signed out, on a page of the server',
    ),
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': passed(
      `a registered address with a query more ${NO_REDIRECT}, also after the sign-out`,
    ),
    'oidcc-rp-initiated-logout-bad-id-token-hint': passed(`a text that is no JWT ${NO_REDIRECT}`),
  },
} as const satisfies Plan;

export const OIDC_BACK_CHANNEL = {
  name: 'oidcc-backchannel-rp-initiated-logout-certification-test-plan',
  title: 'OpenID Connect: Back-Channel Logout',
  variant: VARIANT,
  modules: {
    'oidcc-backchannel-logout-discovery-endpoint-verification': passed(
      'the metadata say that logout tokens are sent, with sid',
    ),
    'oidcc-backchannel-rp-initiated-logout': passed(
      'after the sign-out the application gets a logout token for the sid of the ID token',
    ),
  },
} as const satisfies Plan;
