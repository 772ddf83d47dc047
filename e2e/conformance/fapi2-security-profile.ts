import { passed } from './plan.ts';
import type { Plan } from './plan.ts';

/** FAPI 2.0 Security Profile, for a server with private_key_jwt, DPoP and OpenID Connect. */
export const FAPI2_SECURITY_PROFILE = {
  name: 'fapi2-security-profile-final-test-plan',
  title: 'FAPI 2.0 Security Profile',
  variant: {
    openid: 'openid_connect',
    client_auth_type: 'private_key_jwt',
    sender_constrain: 'dpop',
    fapi_profile: 'plain_fapi',
    authorization_request_type: 'simple',
  },
  modules: {
    'fapi2-security-profile-final-discovery-end-point-verification': passed(
      'the metadata list PAR, S256, private_key_jwt, the algorithms of FAPI and `iss` in answers',
    ),
    'fapi2-security-profile-final-happy-flow': passed(
      'two clients sign a person in, and the API refuses the token with the key of the other client',
    ),
    'fapi2-security-profile-final-par-without-duplicate-parameters': passed(
      'client_id and request_uri alone are enough at the authorization endpoint',
    ),
  },
} as const satisfies Plan;
