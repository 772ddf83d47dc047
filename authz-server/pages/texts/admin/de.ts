import type { adminEn } from './en.ts';
import { adminEventsDe } from './events-de.ts';
import { adminNamedDe, adminPartsDe } from './named-de.ts';
import { clientOperationsDe } from './client-operations-de.ts';
import { userOperationsDe } from './user-operations-de.ts';
import { otherOperationsDe } from './other-operations-de.ts';
import { membersDe } from './members-de.ts';

export const adminDe: typeof adminEn = {
  title: 'Verwaltung',
  lead: (name: string) =>
    `Sie sind ${name} und verwalten diesen Server. Alles hier geht auch auf der Befehlszeile.`,
  where: 'Wo Sie sind',
  search: 'Anzeigen',
  others: 'Was Sie tun können',
  nothing: 'Hier ist nichts.',
  next: 'Nächste Seite',
  none: 'Nicht gesetzt',
  empty: 'Keine',
  unchanged: 'Wie bisher',
  byDefault: 'Voreinstellung',
  any: 'Beliebig',
  yes: 'Ja',
  no: 'Nein',
  lines: 'Ein Wert pro Zeile.',
  optional: 'freiwillig',
  problem: 'Nichts ist geschehen.',
  sent: 'Nichts ist geschehen: Dieses Formular wurde schon abgeschickt oder ist zu alt. Sehen Sie nach, ob es noch nötig ist, und schicken Sie es dann noch einmal ab.',
  done: 'Das ist erledigt.',
  goOn: 'Zurück zur Verwaltung',
  nav: {
    people: 'Personen',
    applications: 'Anwendungen',
    access: 'Zugang',
    activity: 'Aktivität',
    servers: 'Server',
    advanced: 'Weiteres',
  },
  within: 'In diesem Abschnitt',
  kindsOf: {
    title: 'Welche Art von Anwendung ist es?',
    others: 'Alle Einstellungen',
    submit: 'Registrieren',
  },
  kinds: {
    web: {
      title: 'Web-Anwendung',
      text: 'Ein Server meldet Personen an. Er kann ein Geheimnis bewahren.',
    },
    browser: {
      title: 'Single-Page-Anwendung',
      text: 'JavaScript im Browser meldet Personen an, ohne eigenen Server.',
    },
    native: {
      title: 'Installierte Anwendung',
      text: 'Ein Programm auf einem Telefon oder Computer meldet Personen an.',
    },
    machine: {
      title: 'Maschine',
      text: 'Ein Programm handelt in seinem eigenen Namen. Niemand meldet sich an.',
    },
    device: {
      title: 'Gerät',
      text: 'Ein Fernseher oder eine Befehlszeile zeigt einen Code, den eine Person anderswo eingibt.',
    },
    mcp: {
      title: 'MCP-Client',
      text: 'Ein Client des Model Context Protocol, der kein eigenes Dokument hat.',
    },
  },
  paste: 'Zeilen für die Entwickler',
  find: {
    label: 'Personen und Anwendungen suchen',
    hint: 'Name, Kennung oder Adresse',
    submit: 'Suchen',
    title: 'Suche',
    text: 'Personen nach Name, Adresse oder Kennung; Anwendungen nach Name oder client_id. Der Anfang eines Wortes genügt.',
    person: 'Person',
    application: 'Anwendung',
    found: (count: number) => (count === 1 ? 'Ein Treffer' : `${count} Treffer`),
  },
  more: 'Weitere',
  danger: 'Was Zugriff wegnimmt',
  actions: 'Aktionen',
  end: 'Beenden',
  remove: 'Entfernen',
  replace: 'Ersetzen',
  compromised: 'Der Schlüssel ist vielleicht in fremder Hand',
  all: 'Alle zeigen',
  open: (name: string) => `${name} öffnen`,
  noWarnings: 'Keine Warnungen.',
  sections: {
    passkeys: 'Passkeys',
    keys: 'Schlüssel',
    signIns: 'Anmeldungen',
    grants: 'Zugriffe',
    consents: 'Erlaubnisse',
    activity: 'Letzte Aktivität',
    warnings: 'Warnungen der Konfiguration',
    bans: 'Sperren (bans) des letzten Tages',
    processes: 'Prozesse der letzten Minute',
    feed: 'Liste der Widerrufe',
  },
  /** Headings of long forms. */
  parts: {
    people: 'Anmeldung von Personen',
    proof: 'Anmeldung des Clients',
    access: 'Weitere Rechte',
    gnap: 'Ein GNAP-Client',
    document: 'Beschreibung des Clients (client ID metadata document)',
    clear: 'Einstellungen leeren',
  },
  quoted: (label: string) => `„${label}“`,
  backup: {
    none: 'Keine bekannt',
    schedule: (period: string, kept: number | undefined) =>
      `Alle ${period}${kept === undefined ? '' : `; ${kept} werden behalten`}`,
    unplanned: 'Nicht eingerichtet. Mit der Einstellung „backup“ wählen Sie, wie oft und wohin.',
  },
  overview: {
    title: 'Zu tun',
    nothing: 'Nichts braucht Ihre Aufmerksamkeit.',
    people: 'Personen',
    clients: 'Anwendungen',
    processes: 'Laufende Prozesse',
    version: 'Version',
    lacking: (count: number) =>
      count === 1
        ? 'Eine Person braucht einen zweiten Faktor und hat keinen'
        : `${count} Personen brauchen einen zweiten Faktor und haben keinen`,
    ending: (count: number) =>
      count === 1
        ? 'Ein API-Schlüssel endet in zwei Wochen oder früher'
        : `${count} API-Schlüssel enden in zwei Wochen oder früher`,
    unready: (count: number) =>
      count === 1 ? 'Ein Prozess ist nicht bereit' : `${count} Prozesse sind nicht bereit`,
    overdue: 'Eine Sicherung ist überfällig',
    noBackups: 'Sicherungen sind nicht eingerichtet, und keine gute ist bekannt',
    mixed: (count: number) => `Es laufen Prozesse von mindestens ${count} Versionen`,
    bans: (count: number) =>
      count === 1
        ? 'Eine Sperre (ban) hat noch nicht jeden Prozess erreicht'
        : `${count} Sperren (bans) haben noch nicht jeden Prozess erreicht`,
    warning: (count: number) =>
      count === 1 ? 'Eine Einstellung prüfen:' : `${count} Einstellungen prüfen:`,
    more: (count: number) => `und ${count} weitere`,
  },
  groups: {
    user: { title: 'Personen', text: 'Wer sich hier anmelden kann, und wie.' },
    client: { title: 'Anwendungen', text: 'Die Clients, die von diesem Server Tokens bekommen.' },
    key: { title: 'API-Schlüssel', text: 'Schlüssel, mit denen Anwendungen APIs aufrufen.' },
    'signing-keys': {
      title: 'Signaturschlüssel',
      text: 'Die Schlüssel, die die Tokens dieses Servers unterschreiben.',
    },
    'private-token': {
      title: 'PrivateToken-Schlüssel',
      text: 'Die Schlüssel, die Tokens ohne den Namen einer Person unterschreiben.',
    },
    revocation: {
      title: 'Widerrufe',
      text: 'Die Liste, aus der Resource-Server erfahren, dass ein Token widerrufen wurde.',
    },
    token: { title: 'Tokens', text: 'Einzelne Access-Tokens.' },
    realm: { title: 'Bereiche', text: 'Die geschützten URLs und ihre Verfahren.' },
    cache: { title: 'Caches', text: 'Gespeicherte Antworten von Anwendungen.' },
    audit: { title: 'Aktivität', text: 'Jede Änderung: wer, wann und über welche Schnittstelle.' },
    server: {
      title: 'Server',
      text: 'Die laufenden Prozesse, und Einstellungen, die Sie prüfen sollten.',
    },
  },
  events: adminEventsDe,
  named: adminNamedDe,
  partly: adminPartsDe,
  endsWith: {
    people: (count: string) => {
      if (count === '0') return 'Niemand hat ihm etwas erlaubt, das noch gilt.';
      return count === '1'
        ? 'Eine Person verliert den Zugang.'
        : `${count} Personen verlieren den Zugang.`;
    },
    access: (signIns: string, grants: string) =>
      `Anmeldungen, die enden: ${signIns}. Zugriffe, die enden: ${grants}.`,
  },
  operations: {
    ...clientOperationsDe,
    ...userOperationsDe,
    ...otherOperationsDe,
  },
  fields: {
    second_factor: 'Auch den zweiten Faktor entfernen',
    trees: 'Auch die Dokumente in eigenen Bäumen löschen',
    document: 'URL der Beschreibung (client ID metadata document), statt aller anderen Felder',
  },
  hints: {
    since: '2h oder 2026-11-25',
    until: '2h oder 2026-11-25',
    redirect_uris: 'Nötig für authorization_code: Dorthin geht der Code.',
  },
  choices: {
    client_credentials: 'client_credentials: eine Maschine in ihrem eigenen Namen',
    authorization_code: 'authorization_code: Personen, die sich im Browser anmelden',
    refresh_token: 'refresh_token: der Zugriff von Personen wird ohne sie erneuert',
    device_code: 'device_code: Personen mit einem Gerät ohne Browser',
  },
  scopes: (known: string) => `Die Bereiche fragen nach: ${known}`,
  members: membersDe,
};
