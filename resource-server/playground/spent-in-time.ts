import { CLOCK_MARGIN } from '#shared/stores/revocation/lifetime.ts';
import type { SpentTokens } from '#shared/stores/authentication/spent-tokens.ts';

/**
 * Remembers what was spent until its key ends and no longer. The keys of the playground's issuer are of one process, which
 * has one clock, so a margin for clocks that differ would only let strangers fill the store.
 */
export const spentInTime = (spent: SpentTokens): SpentTokens => ({
  spend: (token, until) => spent.spend(token, until - CLOCK_MARGIN),
});
