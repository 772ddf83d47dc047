import { hash } from 'node:crypto';
import type { PersonRecord } from '#shared/stores/people/people.ts';

/**
 * Returns a mark of a person's password that does not reveal it: each new password has another mark, even if it
 * equals the old one.
 */
export const passwordMark = ({ password_hash }: Pick<PersonRecord, 'password_hash'>): string =>
  hash('sha256', password_hash ?? '', 'base64url');
