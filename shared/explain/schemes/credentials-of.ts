import type { Credentials } from '#shared/http/auth/credentials.ts';
import type { Check } from '../checks.ts';
import type { Part, Surroundings } from '../explained.ts';

/** A scheme explains its credentials: parts beside the parameters themselves, and its checks. */
export type ExplainedCredentials = (
  credentials: Credentials,
  surroundings: Surroundings,
) => { readonly parts: readonly Part[]; readonly checks: readonly Check[] };
