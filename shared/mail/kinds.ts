/** The kinds of messages that tell a person what happened. */
export const NOTICES = [
  'password-changed',
  /** By a person who had none. */
  'password-set',
  'passkey-added',
  'passkey-removed',
  'second-factor-set-up',
  /** By another app. */
  'second-factor-replaced',
  'second-factor-removed',
  'recovery-codes-renewed',
  'recovery-code-used',
  'new-sign-in',
  'address-changed',
] as const;

/** The kinds of messages that have a link. */
export const LINKS = [
  /** For somebody who forgot their password; anybody may ask for it in their name. */
  'recovery',
  /** The same, by an operator. */
  'recovery-by-operator',
  /** By an operator; the second factor is removed as well. */
  'recovery-of-everything',
  /** To somebody who was added without a password. */
  'invitation',
  /** To an address of somebody who wants an account; also by an operator, who invites them. */
  'registration',
  'registration-invitation',
  /** To an address that a person says is theirs. */
  'address-confirmation',
] as const;

export type Notice = (typeof NOTICES)[number];
export type LinkKind = (typeof LINKS)[number];
export type MailKind = Notice | LinkKind;

export const isNotice = (kind: MailKind): kind is Notice =>
  (NOTICES as readonly string[]).includes(kind);
