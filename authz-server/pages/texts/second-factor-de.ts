import { html } from '#shared/pages/html.ts';
import type { secondFactorEn } from './second-factor-en.ts';
import { ownSessionsDe } from './own-sessions.ts';

export const secondFactorDe: typeof secondFactorEn = {
  title: 'Zweiter Faktor',
  step: {
    title: 'Geben Sie Ihren Code ein',
    problemTitle: 'Fehler: Code eingeben',
    lead: (name) =>
      `Ihr Passwort stimmt, ${name}. Geben Sie nun den Code ein, den Ihre App für dieses Konto zeigt.`,
    setUpTitle: 'Richten Sie einen zweiten Faktor ein',
    setUpLead: (name) =>
      `Ihr Passwort stimmt, ${name}. Es braucht auch einen Code aus einer App von Ihnen. Richten Sie das jetzt ein; danach sind Sie angemeldet, und es geht weiter.`,
    ends: `Ist er eingerichtet, wird jeder andere Browser abgemeldet, und alle Anwendungen und Geräte verlieren ihren Zugriff. ${ownSessionsDe}`,
    submit: 'Weiter',
    again: 'Zurück zu Name und Passwort',
    cancel: 'Abbrechen',
  },
  fields: {
    code: 'Code aus sechs Ziffern',
    recovery: 'Ersatzcode',
    recoveryInstead: 'Stattdessen einen Ersatzcode verwenden',
    recoveryHint: 'Zehn Buchstaben und Ziffern, wie 7K2QM-04XTE. Jeder gilt einmal.',
    scan: 'Öffnen Sie auf Ihrem Telefon eine App für Einmalcodes und lesen Sie damit dieses Bild ein.',
    picture: 'QR-Code mit dem Geheimnis',
    here: 'Die App ist auf diesem Gerät: öffnen',
    cannotScan: 'Die App kann das Bild nicht einlesen',
    type: 'Geben Sie dieses Geheimnis in die App ein:',
    confirm: 'Geben Sie dann den Code ein, den die App zeigt.',
    other: 'Anmeldung ohne Code',
    otherText:
      'Ein Passkey oder ein Schlüssel lässt jeden ohne Code ein, der ihn hat. Vielleicht hat ihn jemand anders hinzugefügt, bevor es den zweiten Faktor gab. Kreuzen Sie jeden an, den Sie nicht kennen: Er wird entfernt, mit allem, was er geöffnet hat.',
    ways: { passkey: 'Passkey', key: 'Schlüssel' },
    remove: (kind, name) => `${kind} „${name}“ entfernen`,
    made: (since) => html`angelegt: ${since}`,
  },
  problems: {
    wrong:
      'Der Code ist falsch, zu alt oder wurde schon verwendet. Warten Sie auf den nächsten und versuchen Sie es noch einmal.',
    recovery:
      'Dieser Ersatzcode ist falsch oder wurde schon verwendet. Vergleichen Sie ihn mit Ihrer Liste, oder nehmen Sie einen anderen.',
    ways: 'Inzwischen kam ein Passkey oder Schlüssel hinzu oder wurde entfernt. Sehen Sie die Liste noch einmal an, und geben Sie den Code noch einmal ein.',
    later: 'Es gab zu viele falsche Codes.',
  },
  codes: {
    title: 'Bewahren Sie diese Ersatzcodes auf',
    lead: 'Ihr zweiter Faktor ist eingerichtet. Jeder dieser Codes gilt einmal anstelle eines Codes Ihrer App, falls Ihr Telefon verloren geht. Drucken Sie sie aus oder legen Sie sie zu Ihren Passwörtern. 30 Sekunden lang zeigt sie diese Seite, neu geladen, noch einmal; danach kann es niemand.',
    renewed:
      'Sie treten an die Stelle der bisherigen, die nicht mehr gelten. Jeder gilt einmal anstelle eines Codes Ihrer App, falls Ihr Telefon verloren geht. Drucken Sie sie aus oder legen Sie sie zu Ihren Passwörtern. 30 Sekunden lang zeigt sie diese Seite, neu geladen, noch einmal; danach kann es niemand.',
    goOn: 'Ich habe sie gesichert: weiter',
  },
  account: {
    lead: 'Mit einem zweiten Faktor lässt ein Passwort allein niemanden ein: Es braucht auch einen Code aus einer App von Ihnen.',
    leadWithoutPassword:
      'Sie haben kein Passwort: Ein Passkey lässt Sie ohne Code ein. Wenn Sie später ein Passwort setzen, braucht es dazu auch einen Code aus einer App von Ihnen.',
    ends: `Ist er eingerichtet, wird jeder andere Browser abgemeldet, und alle Anwendungen und Geräte verlieren ihren Zugriff. Hier bleiben Sie angemeldet. Passkeys und Schlüssel bleiben und lassen jeden ein, der sie hat. ${ownSessionsDe}`,
    schemes:
      'Programme, die nur ein Passwort kennen, wie manche Netzlaufwerke, können Sie dann nicht einlassen.',
    setUp: 'Einrichten',
    isSetUp: (since) => html`Ihr zweiter Faktor wurde eingerichtet: ${since}.`,
    left: (count) =>
      count === 1 ? 'Es gibt noch einen Ersatzcode.' : `Es gibt noch ${count} Ersatzcodes.`,
    replaces:
      'Der Code der neuen App zeigt, dass sie funktioniert. Bis dahin gilt Ihre jetzige App; danach gilt nur noch die neue, und Sie bekommen neue Ersatzcodes.',
    setUpAnother: 'Zu dieser App wechseln',
    another: 'Andere App einrichten',
    anotherText: 'Für ein neues Telefon. Die neue App tritt an die Stelle der jetzigen.',
    renew: 'Neue Ersatzcodes machen',
    renewText: 'Die Codes, die Sie jetzt haben, gelten dann nicht mehr.',
    remove: 'Zweiten Faktor entfernen',
    removeText: 'Danach lässt das Passwort allein Sie ein.',
    removeTextWithoutPassword: 'Danach lässt ein Passwort, das Sie später setzen, Sie allein ein.',
    required: 'Er kann nicht entfernt werden: Dieser Server verlangt einen von Ihnen.',
    notices: {
      removed: 'Der zweite Faktor ist entfernt.',
      'codes-shown':
        'Ihre Ersatzcodes wurden einmal gezeigt und können nicht noch einmal gezeigt werden. Wenn Sie sie nicht aufbewahrt haben, machen Sie hier neue.',
    },
    back: 'Zurück zu Ihrem Konto',
  },
};
