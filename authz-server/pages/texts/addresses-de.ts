import type { addressesEn } from './addresses-en.ts';

export const addressesDe: typeof addressesEn = {
  title: 'E-Mail-Adresse',
  problemTitle: 'Fehler: E-Mail-Adresse',
  lead: 'Nachrichten zu Ihrem Konto gehen an Ihre bestätigte Adresse, auch ein Link, wenn Sie Ihr Passwort vergessen.',
  yours: 'Ihre Adressen',
  none: 'Sie haben hier keine.',
  confirm: 'Diese Adresse bestätigen',
  add: 'Eine Adresse hinzufügen',
  addText: 'Wir senden einen Link dorthin. Wenn Sie ihn geöffnet haben, ist die Adresse hier Ihre.',
  change: 'Eine andere Adresse verwenden',
  changeText:
    'Wir senden einen Link dorthin. Wenn Sie ihn geöffnet haben, tritt die neue Adresse an die Stelle der ersten, und wir sagen es der alten.',
  owned: (source: string) => `Ihre Adressen kommen von ${source}. Sie können sie nur dort ändern.`,
  label: 'Neue E-Mail-Adresse',
  send: 'Link senden',
  back: 'Zurück zu Ihrem Konto',
  sent: 'Eine Nachricht mit einem Link ist unterwegs. Der Link gilt einmal, 24 Stunden lang, in einem Browser, in dem Sie angemeldet sind. Nichts gekommen? Sehen Sie bei den unerwünschten Nachrichten nach, und prüfen Sie die Adresse.',
  problems: {
    address: 'Das ist keine E-Mail-Adresse. Eine sieht aus wie alice@example.com.',
    verified: 'Diese Adresse ist schon bestätigt.',
    later: 'Es wurden zu viele Links angefordert.',
  },
  link: {
    title: 'Ist das Ihre Adresse?',
    lead: (address, name) => `${address} soll zu Ihrem Konto ${name} gehören.`,
    former: (address) =>
      `Sie tritt an die Stelle von ${address}. Dorthin senden wir eine Nachricht darüber.`,
    submit: 'Ja, das ist meine',
  },
  done: {
    title: 'Ihre Adresse ist bestätigt',
    text: (address) => `Nachrichten zu Ihrem Konto gehen an ${address}.`,
  },
  gone: {
    title: 'Dieser Link funktioniert nicht',
    text: 'Ein solcher Link gilt einmal, 24 Stunden lang, nur für das Konto, das ihn angefordert hat, und nur der letzte. Die Adresse darf nicht die eines anderen Kontos sein. Fordern Sie auf Ihrer Kontoseite einen neuen an.',
  },
};
