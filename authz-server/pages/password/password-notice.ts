import type { Notice } from '#shared/mail/kinds.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';

/** Returns the notice of a new password to the person as they were before it. */
export const passwordNotice = ({
  password_hash,
}: Pick<PersonRecord, 'password_hash'>): Extract<Notice, `password-${string}`> =>
  password_hash === undefined ? 'password-set' : 'password-changed';
