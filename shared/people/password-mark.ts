import { hash } from 'node:crypto';
import type { PersonRecord } from '#shared/stores/people/people.ts';

/** Names a person's password without telling it: each new password has another mark, even if it is the same again. */
export const passwordMark = ({ password_hash }: Pick<PersonRecord, 'password_hash'>): string =>
  hash('sha256', password_hash ?? '', 'base64url');
