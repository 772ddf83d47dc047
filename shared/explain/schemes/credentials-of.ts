import type { Credentials } from '#shared/http/auth/credentials.ts';
import type { Check } from '../checks.ts';
import type { Part, Surroundings } from '../explained.ts';

/** Explains the credentials of a scheme: parts besides the parameters themselves, and the checks. */
export type ExplainedCredentials = (
  credentials: Credentials,
  surroundings: Surroundings,
) => { readonly parts: readonly Part[]; readonly checks: readonly Check[] };
