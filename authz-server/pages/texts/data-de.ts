import { html, strong } from '#shared/pages/html.ts';
import type { dataEn } from './data-en.ts';

export const dataDe: typeof dataEn = {
  title: 'Ihre Daten',
  section: 'Sehen Sie, was dieser Server über Sie gespeichert hat.',
  link: 'Die Seite über Ihre Daten öffnen',
  lead: 'Die Datei enthält alles, was dieser Server über Sie gespeichert hat: Ihr Profil, Ihre Wege zur Anmeldung, Ihre Anmeldungen, den Zugriff von Anwendungen, wartende Nachrichten und was in Ihrem Konto geschehen ist. Sie enthält keine Passwörter und keine anderen Geheimnisse.',
  format: 'Die Datei hat das Format JSON, das Programme lesen können.',
  download: 'Datei herunterladen',
  documents:
    'Dokumente, die Sie bei diesem Dienst ablegen, sind nicht in der Datei. Die Datei nennt aber ihre Adressen. Anwendungen haben eigene Daten: Fragen Sie jede von ihnen.',
  removal: 'Konto löschen',
  removalText: 'Sie können Ihr Konto mit allen diesen Daten löschen.',
  back: 'Zurück zum Konto',
  remove: {
    title: 'Konto löschen?',
    problemTitle: 'Fehler: Konto löschen?',
    account: (name) => html`Dies ist das Konto ${strong(name)}.`,
    text: 'Der Server löscht Ihr Profil, Ihre Wege zur Anmeldung und die Dokumente, die nur Sie öffnen können. Sie werden überall abgemeldet, und jede Anwendung und jedes Gerät verliert den Zugriff. Das lässt sich nicht rückgängig machen.',
    stays:
      'Das Protokoll des Servers behält, was geschehen ist, mit Ihrer Kennung statt Ihrem Namen. Sicherungen des Betreibers enthalten Ihre Daten, bis er sie löscht. Anwendungen haben eigene Daten: Fragen Sie jede von ihnen.',
    applications: 'Diese Anwendungen verlieren ihren Zugriff:',
    more: 'Die Liste ist nicht vollständig.',
    file: 'Zuerst Ihre Daten herunterladen',
    submit: 'Konto löschen',
    keep: 'Konto behalten',
    problems: {
      last: 'Sie sind die letzte Person in der Verwaltung, die sich anmelden kann. Geben Sie zuerst einer anderen Person dieses Recht.',
      other:
        'Es wurde nichts gelöscht. Die Seite galt für eine andere Person, die in diesem Browser nicht mehr angemeldet ist.',
    },
    done: {
      title: 'Ihr Konto ist gelöscht',
      text: 'Sie sind überall abgemeldet, und keine Anwendung und kein Gerät hat mehr Zugriff.',
    },
  },
};
