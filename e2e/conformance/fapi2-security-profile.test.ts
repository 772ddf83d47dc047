/**
 * Performs the modules of the FAPI 2.0 Security Profile against a started pair.
 * @needs countersign
 * @slow
 */
import { afterAll, beforeAll } from '@jest/globals';
import { assertionSteps } from './fapi2/assertion-steps.ts';
import { dpopSteps } from './fapi2/dpop-steps.ts';
import { type FapiSite, startFapiSite } from './fapi2/fapi-site.ts';
import { flowSteps } from './fapi2/flow-steps.ts';
import { parSteps } from './fapi2/par-steps.ts';
import { tokenSteps } from './fapi2/token-steps.ts';
import { FAPI2_SECURITY_PROFILE } from './fapi2-security-profile.ts';
import { perform } from './perform.ts';

let site: FapiSite;
beforeAll(async () => {
  site = await startFapiSite();
});
afterAll(async () => site?.[Symbol.asyncDispose]());

const here = () => site;
perform(FAPI2_SECURITY_PROFILE, {
  ...flowSteps(here),
  ...dpopSteps(here),
  ...tokenSteps(here),
  ...assertionSteps(here),
  ...parSteps(here),
});
