import type { Language } from '#shared/pages/language.ts';

/** The kinds of messages. */
export type MailKind =
  | 'password-changed'
  | 'passkey-added'
  | 'passkey-removed'
  | 'second-factor-set-up'
  | 'second-factor-removed'
  | 'recovery-codes-renewed'
  | 'new-sign-in'
  | 'recovery';

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
  /** With which a password is set; of a recovery alone. */
  readonly link: string;
}

type Write = (facts: MailFacts) => { readonly subject: string; readonly text: string };

/** Returns a notice: a change, and the steps for somebody who did not make it. */
const noticeEn =
  (what: string): Write =>
  ({ name, brand, account, at }) => ({
    subject: `${brand}: ${what}`,
    text: `Hello ${name},

at ${brand} ${what}, on ${at}.

If that was you, there is nothing to do.

If it was not: use "Forgotten your password?" at ${account} to set another password, look through your account there, or ask the people who run ${brand}.
`,
  });

const noticeDe =
  (what: string): Write =>
  ({ name, brand, account, at }) => ({
    subject: `${brand}: ${what}`,
    text: `Guten Tag ${name},

bei ${brand} gab es am ${at} eine Änderung: ${what}.

Wenn Sie das waren, ist nichts zu tun.

Wenn nicht: Setzen Sie mit „Passwort vergessen?“ unter ${account} ein anderes Passwort, sehen Sie dort Ihr Konto durch, oder fragen Sie die Betreiber von ${brand}.
`,
  });

/** The text of each kind of message by language. Plain text: no program has to trust it. */
export const MAIL_TEXTS: Readonly<Record<Language, Readonly<Record<MailKind, Write>>>> = {
  en: {
    'password-changed': noticeEn('your password was changed'),
    'passkey-added': noticeEn('a passkey was added'),
    'passkey-removed': noticeEn('a passkey was removed'),
    'second-factor-set-up': noticeEn('a second factor was set up'),
    'second-factor-removed': noticeEn('your second factor was removed'),
    'recovery-codes-renewed': noticeEn('new recovery codes were made'),
    'new-sign-in': ({ name, brand, account, at, program, address }) => ({
      subject: `${brand}: new sign-in`,
      text: `Hello ${name},

somebody signed in to your account at ${brand} with a browser that was not used for it before.

Time: ${at}
Program: ${program}
Address: ${address}

If that was you, there is nothing to do.

If it was not: change your password at ${account}, end the sign-ins there that you do not know, or ask the people who run ${brand}.
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
    'password-changed': noticeDe('Ihr Passwort wurde geändert'),
    'passkey-added': noticeDe('Ein Passkey wurde hinzugefügt'),
    'passkey-removed': noticeDe('Ein Passkey wurde entfernt'),
    'second-factor-set-up': noticeDe('Ein zweiter Faktor wurde eingerichtet'),
    'second-factor-removed': noticeDe('Ihr zweiter Faktor wurde entfernt'),
    'recovery-codes-renewed': noticeDe('Neue Wiederherstellungscodes wurden erstellt'),
    'new-sign-in': ({ name, brand, account, at, program, address }) => ({
      subject: `${brand}: Neue Anmeldung`,
      text: `Guten Tag ${name},

jemand hat sich bei ${brand} mit einem Browser in Ihrem Konto angemeldet, der dafür noch nicht benutzt wurde.

Zeit: ${at}
Programm: ${program}
Adresse: ${address}

Wenn Sie das waren, ist nichts zu tun.

Wenn nicht: Ändern Sie unter ${account} Ihr Passwort, beenden Sie dort die Anmeldungen, die Sie nicht kennen, oder fragen Sie die Betreiber von ${brand}.
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
