import type { MailTexts, WriteMail } from './texts.ts';

const againDe = (again: boolean) =>
  again
    ? `
Das ist in kurzer Zeit mehrmals geschehen. Sie bekommen dafür nur eine Nachricht: Sehen Sie Ihr Konto an.
`
    : '';

/** Returns a notice like `noticeEn`. */
const noticeDe =
  (what: string): WriteMail =>
  ({ name, brand, account, at, again }) => ({
    subject: `${brand}: ${what}`,
    text: `Guten Tag ${name},

bei ${brand} gab es am ${at} eine Änderung: ${what}.
${againDe(again)}
Wenn Sie das waren, ist nichts zu tun.

Wenn nicht: Setzen Sie mit „Passwort vergessen?“ unter ${account} ein anderes Passwort, sehen Sie dort Ihr Konto durch, oder fragen Sie die Betreiber von ${brand}.
`,
  });

const operatorDe =
  (more: string): WriteMail =>
  ({ name, brand, link }) => ({
    subject: `${brand}: Ein neues Passwort setzen`,
    text: `Guten Tag ${name},

die Betreiber von ${brand} senden Ihnen diesen Link. Er setzt ein neues Passwort.${more} Er gilt einmal und 15 Minuten lang:

${link}

Wenn Sie niemanden darum gebeten haben, tun Sie nichts, und sagen Sie es ihnen. Geben Sie den Link niemandem.
`,
  });

/** The messages in German. */
export const mailDe: MailTexts = {
  'password-changed': noticeDe('Ihr Passwort wurde geändert'),
  'password-set': noticeDe('Für Ihr Konto wurde ein Passwort gesetzt'),
  'account-linked': noticeDe('Ein Konto anderswo wurde verbunden'),
  'account-unlinked': noticeDe('Ein Konto anderswo wurde getrennt'),
  'passkey-added': noticeDe('Ein Passkey wurde hinzugefügt'),
  'passkey-removed': noticeDe('Ein Passkey wurde entfernt'),
  'second-factor-set-up': noticeDe('Ein zweiter Faktor wurde eingerichtet'),
  'second-factor-replaced': noticeDe('Ihr zweiter Faktor wurde durch einen anderen ersetzt'),
  'second-factor-removed': noticeDe('Ihr zweiter Faktor wurde entfernt'),
  'recovery-codes-renewed': noticeDe('Neue Ersatzcodes wurden erstellt'),
  'recovery-code-used': (facts) =>
    noticeDe(`Ein Ersatzcode wurde zur Anmeldung verwendet (noch übrig: ${facts.codesLeft})`)(
      facts,
    ),
  'new-sign-in': ({ name, brand, account, at, program, address, again }) => ({
    subject: `${brand}: Neue Anmeldung`,
    text: `Guten Tag ${name},

jemand hat sich bei ${brand} mit einem Browser in Ihrem Konto angemeldet, der dafür noch nicht benutzt wurde.

Zeit: ${at}
Programm: ${program}
Adresse: ${address}
${againDe(again)}
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
  'recovery-by-operator': operatorDe(''),
  'recovery-of-everything': operatorDe(' Er entfernt auch Ihren zweiten Faktor.'),
  invitation: ({ name, brand, link }) => ({
    subject: `${brand}: Willkommen`,
    text: `Guten Tag ${name},

bei ${brand} gibt es ein Konto für Sie. Mit diesem Link wählen Sie Ihr Passwort oder erstellen einen Passkey. Er gilt einmal und 24 Stunden lang:

${link}

Ihr Name dort ist ${name}. Geben Sie den Link niemandem.
`,
  }),
  registration: ({ brand, link }) => ({
    subject: `${brand}: Ihr Konto anlegen`,
    text: `Guten Tag,

jemand, vielleicht Sie, möchte bei ${brand} ein Konto mit dieser Adresse. Mit diesem Link wählen Sie einen Namen und ein Passwort oder einen Passkey. Er gilt einmal und 24 Stunden lang:

${link}

Wenn Sie das nicht waren, tun Sie nichts: Dann gibt es kein Konto. Geben Sie den Link niemandem.
`,
  }),
  'registration-invitation': ({ brand, link }) => ({
    subject: `${brand}: Willkommen`,
    text: `Guten Tag,

die Betreiber von ${brand} laden Sie ein. Mit diesem Link wählen Sie einen Namen und ein Passwort oder einen Passkey. Er gilt einmal und 24 Stunden lang:

${link}

Geben Sie den Link niemandem.
`,
  }),
  'registration-known': ({ name, brand, account, link }) => ({
    subject: `${brand}: Sie haben ein Konto`,
    text: `Guten Tag ${name},

jemand, vielleicht Sie, möchte bei ${brand} ein Konto mit dieser Adresse. Sie haben eines: Ihr Name dort ist ${name}. Sie finden es unter ${account}

Wenn Sie das Passwort vergessen haben, fordern Sie einen Link an unter ${link}

Wenn Sie das nicht waren, ist nichts zu tun.
`,
  }),
  'address-confirmation': ({ name, brand, to, link }) => ({
    subject: `${brand}: Diese Adresse bestätigen`,
    text: `Guten Tag,

jemand mit dem Konto ${name} bei ${brand} gibt ${to} als E-Mail-Adresse an. Wenn Sie das sind, bestätigen Sie es. Der Link gilt einmal und 24 Stunden lang:

${link}

Wenn Sie das nicht sind, tun Sie nichts: Die Adresse zählt dann nicht für jenes Konto.
`,
  }),
  'address-changed': ({ name, brand, account, at }) => ({
    subject: `${brand}: Andere E-Mail-Adresse`,
    text: `Guten Tag ${name},

die E-Mail-Adresse Ihres Kontos bei ${brand} wurde am ${at} geändert. Nachrichten gehen von nun an an die neue, nicht mehr hierher.

Wenn Sie das waren, ist nichts zu tun.

Wenn nicht: Melden Sie sich unter ${account} an, ändern Sie Ihr Passwort und Ihre Adresse, und fragen Sie die Betreiber von ${brand}.
`,
  }),
};
