import { type Html, html } from '#shared/pages/html.ts';
import type { passkeysEn } from './passkeys-en.ts';

export const passkeysDe: typeof passkeysEn = {
  title: 'Passkeys',
  problemTitle: 'Fehler: Passkeys',
  lead: 'Mit einem Passkey melden Sie sich ohne Passwort an. Ihr Gerät bewahrt ihn auf und fragt nach Ihrem Fingerabdruck, Ihrem Gesicht oder seiner PIN.',
  yours: 'Ihre Passkeys',
  none: 'Sie haben keinen Passkey.',
  stay: 'Ein Passkey gilt, bis Sie ihn entfernen, auch wenn Sie Ihr Passwort ändern oder alles beenden. Entfernen Sie den eines verlorenen Geräts.',
  noPassword:
    'Sie haben kein Passwort, also melden Sie sich nur mit Ihren Passkeys an. Erzeugen Sie einen zweiten auf einem anderen Gerät, für den Fall, dass eines verloren geht. Bei Programmen, die nach Name und Passwort fragen, etwa Netzlaufwerken, können Sie sich nicht anmelden.',
  current: 'Eben benutzt',
  copied: (when: Html) =>
    html`Abgelehnt ${when}: Vielleicht hat jemand eine Kopie dieses Passkeys. Entfernen Sie ihn und
    erzeugen Sie einen neuen.`,
  rename: 'Umbenennen',
  newName: 'Neuer Name',
  saveName: 'Namen speichern',
  remove: 'Entfernen',
  whose: (name) => `: Passkey ${name}`,
  add: 'Einen Passkey erzeugen',
  addText: 'Geben Sie ihm einen Namen, an dem Sie ihn wiedererkennen, etwa den Ihres Telefons.',
  name: 'Name des Passkeys',
  make: 'Passkey erzeugen',
  failed:
    'Der Browser hat keinen Passkey erzeugt: Es wurde abgebrochen, dauerte zu lange, oder dieses Gerät hat schon einen.',
  missing:
    'Dieser Browser kennt keine Passkeys, oder seine Skripte sind abgeschaltet. Nehmen Sie einen anderen Browser oder ein anderes Gerät.',
  notHere:
    'Passkeys brauchen eine Adresse mit https und einem Namen. Dieser Server hat keine, also kann niemand einen erzeugen.',
  back: 'Zurück zu Ihrem Konto',
  done: {
    added: 'Der Passkey ist erzeugt. Beim nächsten Mal können Sie sich mit ihm anmelden.',
    renamed: 'Der Passkey hat seinen neuen Namen.',
    removed:
      'Der Passkey ist entfernt. Wo Sie sich mit ihm angemeldet hatten, sind Sie abgemeldet.',
  },
  problems: {
    name: 'Geben Sie dem Passkey einen Namen aus 1 bis 100 sichtbaren Zeichen.',
    'name-taken': 'Sie haben schon einen Passkey mit diesem Namen. Nehmen Sie einen anderen.',
    failed:
      'Dieser Passkey ließ sich nicht prüfen. Versuchen Sie es noch einmal, oder nehmen Sie ein anderes Gerät.',
    late: 'Das hat länger als fünf Minuten gedauert, oder die Seite wurde zweimal gesendet. Versuchen Sie es noch einmal.',
    taken: 'Diesen Passkey gibt es hier schon.',
    full: 'Sie haben 20 Passkeys, mehr gehen nicht. Entfernen Sie einen, den Sie nicht mehr benutzen.',
    last: 'Nur so können Sie sich noch anmelden, also bleibt er. Erzeugen Sie erst einen anderen Passkey, oder setzen Sie ein Passwort.',
    gone: 'Diesen Passkey gibt es hier nicht mehr.',
  },
};
