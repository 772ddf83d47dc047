import type { userOperationsEn } from './user-operations-en.ts';

export const userOperationsDe: typeof userOperationsEn = {
  'user set': {
    title: 'Ein Profil ändern',
    text: 'Anwendungen lesen das Profil einer Person. Was Sie leer lassen, bleibt. Keine Sitzung und kein Token endet.',
    done: 'Das Profil ist geändert.',
  },
  'user disable': {
    title: 'Eine Person sperren',
    text: 'Die Person kann sich nicht mehr anmelden. Ihre Sitzungen, Zugriffe und Tokens enden sofort.',
    done: 'Die Person ist gesperrt.',
  },
  'user enable': {
    title: 'Eine Person entsperren',
    text: 'Die Person kann sich wieder anmelden. Was beendet ist, bleibt beendet.',
    done: 'Die Person ist entsperrt.',
  },
  'user list': { title: 'Alle Personen', text: 'Wer sich hier anmelden kann, nach dem Namen.' },
  'user show': {
    title: 'Eine Person',
    text: 'Das Profil einer Person, und wie viele Arten, sich anzumelden, Anmeldungen und Zugriffe sie hat.',
  },
  'user access': {
    title: 'Anmeldungen und Zugriffe einer Person',
    text: 'Wo eine Person angemeldet ist, und welche Anwendungen für sie handeln.',
  },
  'user add': {
    title: 'Eine Person anlegen',
    text: 'Die Person kann sich mit dem Passwort anmelden. Fehlt es, machen wir eins und zeigen es einmal.',
    done: 'Die Person ist angelegt. Ein Passwort, das wir gemacht haben, wird nur dieses eine Mal gezeigt: Bewahren Sie es jetzt auf.',
  },
  'user invite': {
    title: 'Eine Person einladen',
    text: 'Die Person bekommt kein Passwort, sondern einen Link, mit dem sie eins setzt. Wer den Link hat, kann ihn benutzen, einmal.',
    done: 'Die Einladung ist gemacht. Der Link wird nur dieses eine Mal gezeigt, wenn er nicht mit der Post geht.',
  },
  'user passwd': {
    title: 'Neues Passwort für eine Person',
    text: 'Das alte Passwort endet, und mit ihm alle Sitzungen, Zugriffe und Tokens der Person. Fehlt das neue, machen wir eins und zeigen es einmal.',
    done: 'Die Person hat ein neues Passwort. Haben wir es gemacht, wird es nur dieses eine Mal gezeigt: Bewahren Sie es jetzt auf.',
  },
  'user recover': {
    title: 'Eine Person wieder anmelden lassen',
    text: 'Die Person bekommt einen Link, mit dem sie ein neues Passwort setzt. Wer den Link hat, kann ihn benutzen, einmal.',
    done: 'Der Link ist gemacht. Er wird nur dieses eine Mal gezeigt, wenn er nicht mit der Post geht.',
  },
  'user kerberos': {
    title: 'Kerberos-Namen einer Person',
    text: 'Die Namen, die Sie angeben, ersetzen die bisherigen. Ohne Namen meldet kein Ticket die Person an.',
    done: 'Die Kerberos-Namen sind gesetzt.',
  },
  'user end': {
    title: 'Alles von einer Person beenden',
    text: 'Alle Sitzungen, Zugriffe und Tokens der Person enden sofort. Die Person kann sich wieder anmelden.',
    done: 'Alles von der Person ist beendet.',
  },
  'user key list': {
    title: 'Schlüssel von Personen',
    text: 'Die Schlüssel, die Personen ohne Passwort anmelden.',
  },
  'user key add': {
    title: 'Einen Schlüssel einer Person hinzufügen',
    text: 'Der Schlüssel meldet die Person von jetzt an ohne Passwort an.',
    done: 'Der Schlüssel ist hinzugefügt.',
  },
  'user key remove': {
    title: 'Einen Schlüssel einer Person entfernen',
    text: 'Die nächste Anfrage mit dem Schlüssel wird abgelehnt. Das lässt sich nicht rückgängig machen.',
    done: 'Der Schlüssel ist entfernt.',
  },
  'user passkey list': {
    title: 'Passkeys von Personen',
    text: 'Die Passkeys, mit denen Personen sich anmelden.',
  },
  'user passkey remove': {
    title: 'Einen Passkey einer Person entfernen',
    text: 'Der Passkey gilt nicht mehr. Die Anmeldungen, Zugriffe und Tokens, die er geöffnet hat, enden sofort.',
    done: 'Der Passkey ist entfernt.',
  },
  'user second-factor': {
    title: 'Zweiter Faktor einer Person',
    text: 'Ob eine Person einen zweiten Faktor hat, und wie viele Ersatzcodes übrig sind.',
  },
  'user second-factor-remove': {
    title: 'Den zweiten Faktor einer Person entfernen',
    text: 'Danach genügt ein Passwort allein, um sich anzumelden. Alle ihre Sitzungen, Zugriffe und Tokens enden sofort.',
    done: 'Der zweite Faktor ist entfernt.',
  },
  'user remove': {
    title: 'Eine Person löschen',
    text: 'Die Person ist sofort gelöscht, mit allen Passwörtern, Passkeys, Schlüsseln, Sitzungen und Zugriffen. Das lässt sich nicht rückgängig machen.',
    done: 'Die Person ist gelöscht.',
  },
};
