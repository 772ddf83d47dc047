/** The kinds of messages that tell a person what happened. */
export const NOTICES = [
  'password-changed',
  /** Sent when a person without a password has set one. */
  'password-set',
  'account-linked',
  'account-unlinked',
  'passkey-added',
  'passkey-removed',
  'second-factor-set-up',
  /** Sent when a person has replaced the second factor by that of another app. */
  'second-factor-replaced',
  'second-factor-removed',
  'recovery-codes-renewed',
  'recovery-code-used',
  'new-sign-in',
  'address-changed',
] as const;

/** The kinds of messages that have a link. */
export const LINKS = [
  /** Sent to a person who forgot their password; anybody may request it for them. */
  'recovery',
  /** Sent to the same person at an operator's request. */
  'recovery-by-operator',
  /** Sent at an operator's request; its link also removes the second factor. */
  'recovery-of-everything',
  /** Sent to a person who was added without a password. */
  'invitation',
  /** Sent to the address of a person who wants an account; also if an operator invites them. */
  'registration',
  'registration-invitation',
  /** Sent to an address that a person claims. */
  'address-confirmation',
] as const;

export type Notice = (typeof NOTICES)[number];
export type LinkKind = (typeof LINKS)[number];
export type MailKind = Notice | LinkKind;

export const isNotice = (kind: MailKind): kind is Notice =>
  (NOTICES as readonly string[]).includes(kind);
