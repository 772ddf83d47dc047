import * as z from 'zod';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { profileShown } from './profile-members.ts';

/** A person without credentials. */
export const personShown = {
  id: z.string(),
  name: z.string(),
  ...profileShown,
  kerberos: z.array(z.string()).exactOptional(),
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
  password_hash,
  admin,
  demo,
}: PersonRecord) => ({
  id,
  name,
  ...profile,
  ...(kerberos && { kerberos }),
  ...(password_hash === undefined && { passwordless: true as const }),
  ...(admin && { admin: true as const }),
  ...(demo && { demo: true as const }),
});
