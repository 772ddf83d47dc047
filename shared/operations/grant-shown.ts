import * as z from 'zod';
import type { ListedAccess } from '#shared/people/access/grants.ts';

export const time = z.number().describe('milliseconds since the epoch');
const origin = z
  .strictObject({ address: z.string().exactOptional(), agent: z.string().exactOptional() })
  .optional();

/** Scopes that a person allowed or refused. */
export const scopes = z
  .record(z.string(), z.array(z.string()))
  .describe('scopes by resource; the scopes of OpenID Connect have the empty name');

/** The members of a grant, besides its person and its client. */
export const grantShown = {
  scopes,
  since: time,
  last_issue: time.optional(),
  sign_in: z.string().optional().describe('the sign-in whose end revokes the grant'),
  device: origin,
  browser: origin,
};

/** Returns a grant as operators see it. */
export const shownGrant = ({
  scopes: granted,
  since,
  lastIssue: last_issue,
  signIn: sign_in,
  device,
  browser,
}: ListedAccess) => ({ scopes: granted, since, last_issue, sign_in, device, browser });
