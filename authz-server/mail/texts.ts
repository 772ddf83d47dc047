import type { MailKind } from '#shared/mail/kinds.ts';

export interface MailFacts {
  /** The name with which the person signs in. */
  readonly name: string;
  readonly brand: string;
  /** The address of the account page. */
  readonly account: string;
  /** When it happened, in words. */
  readonly at: string;
  /** With what program and from what IP address the person signed in; of a new sign-in alone. */
  readonly program: string;
  readonly address: string;
  /** Whom the message goes to. */
  readonly to: string;
  /** Empty: its kind has none. */
  readonly link: string;
  /** How many recovery codes the person has left. */
  readonly codesLeft: number;
  /** It stands for several of its kind. */
  readonly again: boolean;
}

export type WriteMail = (facts: MailFacts) => { readonly subject: string; readonly text: string };

/** The text of each kind of message. `registration-known`: somebody who wants an account has one. */
export type MailTexts = Readonly<Record<MailKind | 'registration-known', WriteMail>>;
