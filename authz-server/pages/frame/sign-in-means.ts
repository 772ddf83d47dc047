import {
  BY_PASSWORD,
  BY_PROVIDER,
  BY_PROVIDER_AND_CODE,
  BY_PROVIDER_AND_RECOVERY_CODE,
  BY_RECOVERY_CODE,
  BY_SECOND_FACTOR,
  howOf,
} from '#shared/people/access/assurance.ts';
import type { SignInMeans } from './account-view.ts';

/** The means of a sign-in by their names in events (`howOf`). */
const MEANS: ReadonlyMap<string, SignInMeans> = new Map([
  [howOf(BY_PASSWORD), 'password'],
  [howOf(BY_SECOND_FACTOR), 'second-factor'],
  [howOf(BY_RECOVERY_CODE), 'recovery-code'],
  [howOf(BY_PROVIDER), 'provider'],
  [howOf(BY_PROVIDER_AND_CODE), 'provider-and-code'],
  [howOf(BY_PROVIDER_AND_RECOVERY_CODE), 'provider-and-recovery-code'],
  ['hwk user mfa', 'passkey'],
  ['swk user mfa', 'passkey'],
]);

/** Returns the means of a sign-in by its name in an event. */
export const meansOf = (how: string): SignInMeans | undefined => MEANS.get(how);
