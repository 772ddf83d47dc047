import { relyingPartyId } from '#shared/config/relying-party.ts';
import type { Config } from '#shared/config/schema.ts';

/** Returns the data that decides whether a person lacks a second factor: the setting, and the domain of passkeys. */
export const secondFactorDemand = (config: Config) => ({
  rule: config.people.secondFactor,
  rpId: relyingPartyId(config),
});
