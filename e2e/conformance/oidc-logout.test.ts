/**
 * Performs the modules of the plans about logout against a started pair.
 * @needs countersign
 * @slow
 */
import { afterAll, beforeAll } from '@jest/globals';
import { backChannelSteps, logoutSteps } from './oidc/logout-steps.ts';
import { type OidcSite, startOidcSite } from './oidc/oidc-site.ts';
import { OIDC_BACK_CHANNEL, OIDC_LOGOUT } from './oidc-logout.ts';
import { perform } from './perform.ts';

let site: OidcSite;
beforeAll(async () => {
  site = await startOidcSite();
});
afterAll(async () => site?.[Symbol.asyncDispose]());

perform(
  OIDC_LOGOUT,
  logoutSteps(() => site),
);
perform(
  OIDC_BACK_CHANNEL,
  backChannelSteps(() => site),
);
