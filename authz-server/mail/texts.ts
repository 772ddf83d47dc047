import type { Language } from '#shared/pages/language.ts';

/** The kinds of messages. */
export type MailKind = 'password-changed' | 'recovery';

export interface MailFacts {
  /** The name with which the person signs in. */
  readonly name: string;
  readonly brand: string;
  /** The address of the account page. */
  readonly account: string;
  /** When it happened, in words. */
  readonly at: string;
  /** With which a password is set; of a recovery alone. */
  readonly link: string;
}

type Write = (facts: MailFacts) => { readonly subject: string; readonly text: string };

/** The text of each kind of message by language. Plain text: no program has to trust it. */
export const MAIL_TEXTS: Readonly<Record<Language, Readonly<Record<MailKind, Write>>>> = {
  en: {
    'password-changed': ({ name, brand, account, at }) => ({
      subject: `${brand}: your password was changed`,
      text: `Hello ${name},

your password at ${brand} was changed on ${at}.

If that was you, there is nothing to do.

If it was not: use "Forgotten your password?" at ${account} to set another one, or ask the people who run ${brand}.
`,
    }),
    recovery: ({ name, brand, link }) => ({
      subject: `${brand}: set a new password`,
      text: `Hello ${name},

somebody, perhaps you, asked for a new password at ${brand}. This link sets one. It works once, for 15 minutes:

${link}

If that was not you, do nothing: your password stays as it is. Give the link to nobody.
`,
    }),
  },
  de: {
    'password-changed': ({ name, brand, account, at }) => ({
      subject: `${brand}: Ihr Passwort wurde geändert`,
      text: `Guten Tag ${name},

Ihr Passwort bei ${brand} wurde am ${at} geändert.

Wenn Sie das waren, ist nichts zu tun.

Wenn nicht: Setzen Sie mit „Passwort vergessen?“ unter ${account} ein anderes, oder fragen Sie die Betreiber von ${brand}.
`,
    }),
    recovery: ({ name, brand, link }) => ({
      subject: `${brand}: Ein neues Passwort setzen`,
      text: `Guten Tag ${name},

jemand, vielleicht Sie, hat bei ${brand} um ein neues Passwort gebeten. Dieser Link setzt eines. Er gilt einmal und 15 Minuten lang:

${link}

Wenn Sie das nicht waren, tun Sie nichts: Ihr Passwort bleibt, wie es ist. Geben Sie den Link niemandem.
`,
    }),
  },
};
