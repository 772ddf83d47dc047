import { html } from '#shared/pages/html.ts';
import type { Texts } from './en.ts';

export const de: Texts = {
  errors: {
    4: {
      title: 'Diese Anfrage kann nicht beantwortet werden',
      text: 'Etwas daran ist falsch oder hier nicht möglich. Nichts wurde geändert.',
    },
    401: {
      title: 'Anmeldung nötig',
      text: 'Für diese Adresse sind Zugangsdaten nötig. Ihr Browser hat keine gesendet, oder sie gelten nicht. Welche Zugangsdaten eine Adresse annimmt, steht auf der Startseite dieses Servers.',
    },
    403: {
      title: 'Kein Zugang',
      text: 'Mit Ihren Zugangsdaten haben Sie hier keinen Zugang.',
    },
    404: {
      title: 'Hier ist nichts',
      text: 'Vielleicht ist die Adresse vertippt, oder die Seite gibt es nicht mehr.',
    },
    407: {
      title: 'Der Proxy verlangt eine Anmeldung',
      text: 'Ihr Browser benutzt einen Proxy. Die Zugangsdaten dafür fehlen oder gelten nicht.',
    },
    413: { title: 'Das ist zu lang', text: 'So viel nimmt dieser Server hier nicht an.' },
    429: {
      title: 'Zu viele Anfragen',
      text: 'Von hier kamen in kurzer Zeit zu viele Anfragen. Warten Sie einen Moment und versuchen Sie es noch einmal.',
    },
    5: {
      title: 'Etwas ist schiefgegangen',
      text: 'Das ist unser Fehler. Der Grund steht im Protokoll des Servers. Versuchen Sie es gleich noch einmal.',
    },
    502: {
      title: 'Die Anwendung antwortet nicht',
      text: 'Sie ist nicht erreichbar, oder ihre Antwort ist unverständlich. Versuchen Sie es gleich noch einmal.',
    },
    503: {
      title: 'Wir können gerade nicht antworten',
      text: 'Ein Teil dieses Dienstes ist beschäftigt oder antwortet nicht. Versuchen Sie es gleich noch einmal.',
    },
    504: {
      title: 'Die Anwendung antwortet nicht',
      text: 'Sie braucht zu lange. Versuchen Sie es gleich noch einmal.',
    },
  },
  ways: { home: 'Was dieser Server annimmt', account: 'Ihr Konto' },

  listing: {
    path: 'Wo Sie sind',
    up: 'Übergeordneter Ordner',
    name: 'Name',
    size: 'Größe',
    modified: 'Geändert',
    empty: 'Hier ist noch nichts.',
    next: 'Nächste Seite',
  },

  home: {
    title: (brand) => `Ressourcenserver von ${brand}`,
    titleWithPlayground: (brand) => `Ressourcenserver von ${brand} mit Spielwiese`,
    lead: (authorizationServer) =>
      html`Clients speichern auf diesem Server Dokumente und lesen sie mit ihren Zugangsdaten.
      Zugriffstoken stellt der ${authorizationServer} aus. Ein widerrufenes Token wird schon bei der
      nächsten Anfrage abgelehnt.`,
    account: 'Bei Ihrem Konto anmelden',
    developers: (tutorial) => html`Entwickler beginnen mit ${tutorial}.`,
    commands: 'diese Befehle',
    authorizationServer: 'Autorisierungsserver',
    again: (origin) => html`Alles davon gibt es auch unter ${origin}.`,
    schemes: 'Anmeldung mit',
    reading: 'Zum Lesen nötig',
    writing: 'Zum Schreiben nötig',
    noScope: 'kein Scope',
    metadata: 'Metadaten',
    metadataText: 'für Programme (RFC 9728)',
    own: 'Jeder Mensch und jede Anwendung hat dort einen eigenen Dateibaum, der sich als Laufwerk einbinden lässt (WebDAV).',
    authors: 'Für Autoren von Clients',
    trials:
      'Jede dieser Adressen sagt in JSON, wer der Client ist und mit welchem Verfahren er sich angemeldet hat:',
    playground: 'Spielwiese: jedes Verfahren Nachricht für Nachricht',
    operators: 'Für Betreiber',
    ready: 'ob der Server betriebsbereit ist',
    verify: 'sagt einem vertrauten Reverse-Proxy, ob eine Anfrage passieren darf',
  },

  playground: {
    title: 'Spielwiese',
    lead: 'Jede Seite hier führt einen Austausch vor: Ein eigener Client des Servers sendet die Anfragen, und Sie sehen bei jedem Schritt beide Nachrichten und was der Server prüft. Ihre Zugangsdaten werden nicht verwendet. Die Texte über die Protokolle sind englisch.',
    groups: {
      passwords: 'Mit Passwort',
      tokens: 'Mit Token',
      keys: 'Mit Schlüssel',
      methods: 'Methoden, Caches und Proxys',
    },
    path: 'Wo Sie sind',
    longName: 'Steht für',
    words: 'Begriffe dieser Seite',
    standard: 'Standard',
    document: 'Dokument',
    command: 'Von Ihrer eigenen Shell aus',
    perform: 'Den Austausch durchführen',
    performText: 'Der Client hat ein eigenes Konto, das nur hier gilt.',
    mistake: 'Fehler des Clients',
    noMistake: 'Keiner',
    mistakeHere: 'Hier macht der Client den Fehler:',
    version: 'Version von HTTP',
    fieldLists:
      'Diese Nachrichten gingen über HTTP/2. Jede ist als Liste ihrer Felder dargestellt: Unterwegs sind sie komprimiert und in Frames verpackt (RFC 9113).',
    inEnglish: 'Die Texte über das Protokoll sind englisch, auch die Anmerkungen und Prüfungen.',
    steps: 'Die Schritte',
    step: 'Schritt',
    octets:
      'Der Inhalt ist kein Text. Je zwei hexadezimale Ziffern, von 00 bis ff, stehen für ein Oktett.',
    button: 'Durchführen',
    picture: 'Der Austausch als Bild',
    dashed:
      'Gestrichelte Pfeile gehören nicht zu den Nachrichten unten: sie ergeben sich aus den Antworten.',
    parties: {
      client: 'Client',
      browser: 'Browser',
      userAgent: 'User-Agent',
      applicationServer: 'Anwendungsserver',
      server: 'Server',
      pushService: 'Push-Dienst',
      application: 'Anwendung',
      issuer: 'Aussteller',
      proxy: 'Proxy',
      authorization: 'Autorisierungsserver',
    },
    sentBy: {
      client: 'Der Client sendet',
      browser: 'Der Browser sendet',
      userAgent: 'Der User-Agent sendet',
      applicationServer: 'Der Anwendungsserver sendet',
    },
    promised: 'Der Server kündigt diese Anfrage an',
    answeredBy: {
      server: 'Der Server antwortet',
      pushService: 'Der Push-Dienst antwortet',
      issuer: 'Der Aussteller antwortet',
      proxy: 'Der Proxy antwortet',
      authorization: 'Der Autorisierungsserver antwortet',
    },
    decoded: 'Dekodiert:',
    fields: 'Was die Felder bedeuten',
    checks: 'Was der Server prüft, in dieser Reihenfolge',
    outcomes: {
      accepted: 'Angenommen.',
      continued: 'Es geht weiter: Der Client beantwortet die Challenge.',
      asked: 'Der Server verlangt Zugangsdaten.',
      pending: 'Noch nicht: Der Client fragt später noch einmal.',
      away: 'Der Server prüft das gerade nicht.',
      refused: 'Abgelehnt:',
    },
    onPurpose:
      'Der Austausch ist vollständig. Die letzte Antwort ist eine Ablehnung, die die Schritte erklären.',
    failed: 'diese Prüfung ist fehlgeschlagen:',
    reason: 'Der Grund:',
    missing: 'Verfahren, die hier nicht vorgeführt werden:',
  },

  explain: {
    title: 'Erklären',
    lead: 'Fügen Sie ein Token, einen Proof, eine Challenge, Zugangsdaten, ein Feld Cache-Status oder If oder eine ganze Anfrage oder Antwort ein. Sie sehen die Bestandteile und was ein Server daran prüft.',
    kept: 'Dieser Server speichert und protokolliert nichts vom Text. Er ruft nur die Schlüssel seines eigenen Autorisierungsservers ab. Die Erklärungen sind englisch.',
    label: 'Text, höchstens 16 KB',
    button: 'Erklären',
    problem: 'Das lässt sich nicht erklären.',
    parts: 'Bestandteile',
    checks: 'Was geprüft wird, in dieser Reihenfolge',
    results: {
      right: 'richtig',
      wrong: 'falsch',
      no: 'nein',
      'not yet': 'noch nicht',
      open: 'weiß nur der Server',
      'not reached': 'nicht erreicht',
    },
  },
};
