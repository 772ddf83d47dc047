import { FAPI2_SECURITY_PROFILE } from './fapi2-security-profile.ts';
import { OIDC_BASIC, OIDC_FORM_POST } from './oidc-basic.ts';
import { OIDC_CONFIG } from './oidc-config.ts';
import { OIDC_BACK_CHANNEL, OIDC_LOGOUT } from './oidc-logout.ts';
import type { Plan } from './plan.ts';

/** All plans that the suites of this folder perform. */
export const PLANS: readonly Plan[] = [
  OIDC_BASIC,
  OIDC_FORM_POST,
  OIDC_CONFIG,
  OIDC_LOGOUT,
  OIDC_BACK_CHANNEL,
  FAPI2_SECURITY_PROFILE,
];
