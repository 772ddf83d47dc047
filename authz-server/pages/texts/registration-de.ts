import type { registrationEn } from './registration-en.ts';

export const registrationDe: typeof registrationEn = {
  title: 'Konto anlegen',
  problemTitle: 'Fehler: Konto anlegen',
  lead: 'Geben Sie Ihre E-Mail-Adresse ein. Wir senden Ihnen einen Link, mit dem Sie einen Namen und ein Passwort oder einen Passkey wählen.',
  address: 'E-Mail-Adresse',
  send: 'Link senden',
  back: 'Zurück',
  sent: {
    title: 'Sehen Sie in Ihr Postfach',
    text: 'Eine Nachricht ist unterwegs. Ihr Link gilt einmal, 24 Stunden lang.',
    none: 'Nichts gekommen? Sehen Sie bei den unerwünschten Nachrichten nach, und prüfen Sie die Adresse.',
  },
  finish: {
    lead: (address) => `Das Konto wird zu ${address} gehören.`,
    leadOfFirst:
      'Mit diesem Konto verwalten Sie den Server. Im Betrieb brauchen Sie dafür einen Passkey oder einen zweiten Faktor neben dem Passwort.',
    nameHint:
      'Mit ihm melden Sie sich an. Buchstaben von a bis z und Ziffern; dazwischen darf ein Punkt, _ oder - stehen.',
    submit: 'Das Konto anlegen',
    passkey: 'Mit einem Passkey anlegen, ohne Passwort',
  },
  problems: {
    address: 'Das ist keine E-Mail-Adresse. Eine sieht aus wie alice@example.com.',
    later: 'Es wurden zu viele Links angefordert.',
    name: 'Wählen Sie einen Namen aus 2 bis 64 Buchstaben von a bis z und Ziffern. Dazwischen darf ein Punkt, _ oder - stehen.',
    taken:
      'Dieser Name ist vergeben, oder er sieht aus wie ein vergebener. Wählen Sie einen anderen.',
  },
  done: {
    title: 'Ihr Konto ist da',
    text: (name) => `Ihr Name ist ${name}. Gehen Sie zu Ihrem Konto, und melden Sie sich an.`,
  },
  gone: {
    title: 'Dieser Link funktioniert nicht',
    text: 'Ein solcher Link gilt einmal, höchstens 24 Stunden lang, und nur der letzte. Wenn Sie schon ein Konto haben, melden Sie sich an; sonst fordern Sie einen neuen Link an.',
    signIn: 'Zur Anmeldung',
  },
};
