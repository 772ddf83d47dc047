import * as z from 'zod';
import { MANAGED } from '#shared/people/identities.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { profileShown } from './profile-members.ts';

/** A person without credentials. */
export const personShown = {
  id: z.string(),
  name: z.string(),
  ...profileShown,
  kerberos: z.array(z.string()).exactOptional(),
  came_from: z
    .strictObject({
      source: z.string(),
      subject: z.string(),
      managed: z.array(z.enum(MANAGED)).describe('the parts of the profile that the source owns'),
    })
    .exactOptional()
    .describe('the account at a source that brought the person'),
  linked: z
    .array(
      z.strictObject({
        source: z.string(),
        subject: z.string(),
        created_at: z.number().describe('milliseconds since the epoch'),
      }),
    )
    .exactOptional()
    .describe('accounts at sources with which the person signs in, too'),
};

/** The marks of a person, which are present if true. */
export const personMarks = {
  passwordless: z
    .literal(true)
    .exactOptional()
    .describe('the person cannot sign in with a password'),
  admin: z.literal(true).exactOptional().describe('the person may administer this server'),
  demo: z.literal(true).exactOptional().describe('a demo person, refused in production'),
};

/** Returns a person as operators see them. */
export const shownPerson = ({
  id,
  name,
  profile,
  kerberos,
  origin,
  linked,
  password_hash,
  admin,
  demo,
}: PersonRecord) => ({
  id,
  name,
  ...profile,
  ...(kerberos && { kerberos }),
  ...(origin && { came_from: { ...origin, managed: [...origin.managed] } }),
  ...(linked && { linked: [...linked] }),
  ...(password_hash === undefined && { passwordless: true as const }),
  ...(admin && { admin: true as const }),
  ...(demo && { demo: true as const }),
});
