import { type NewPasskey, personText } from '#shared/stores/people/new-passkey.ts';

/** Digits that any number of milliseconds has room in. */
const DIGITS = 16;

/** Returns where a passkey stands among all, as text: those of one person together, by age. */
export const placeOf = ({ accountId, created_at, id }: NewPasskey): string =>
  `${personText(accountId)} ${String(created_at).padStart(DIGITS, '0')} ${id}`;

/** The hash of the passkeys of a slot, id to JSON, and the sorted set of their places. */
export const passkeyKeys = (slot: string) =>
  [`${slot}:passkeys`, `${slot}:passkeys:order`] as const;
