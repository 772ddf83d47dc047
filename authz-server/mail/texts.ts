import type { MailKind } from '#shared/mail/kinds.ts';

export interface MailFacts {
  /** The name with which the person signs in. */
  readonly name: string;
  readonly brand: string;
  /** The address of the account page. */
  readonly account: string;
  /** The time of the event in words. */
  readonly at: string;
  /** The program and the IP address of a new sign-in; present in this message only. */
  readonly program: string;
  readonly address: string;
  /** The address to which the message is sent. */
  readonly to: string;
  /** The link; empty if this kind of message has none. */
  readonly link: string;
  /** The number of recovery codes that the person has left. */
  readonly codesLeft: number;
  /** Whether the message stands for several of its kind. */
  readonly again: boolean;
}

export type WriteMail = (facts: MailFacts) => { readonly subject: string; readonly text: string };

/**
 * The text of each kind of message. `registration-known` is sent if a person who asks for an account already has one.
 */
export type MailTexts = Readonly<Record<MailKind | 'registration-known', WriteMail>>;
