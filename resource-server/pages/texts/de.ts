import { html } from '#shared/pages/html.ts';
import type { Texts } from './en.ts';

export const de: Texts = {
  errors: {
    4: {
      title: 'Diese Anfrage kann nicht beantwortet werden',
      text: 'Etwas daran ist falsch oder hier nicht möglich. Nichts wurde geändert.',
    },
    401: {
      title: 'Kein Einlass',
      text: 'Diese Adresse fragt, wer Sie sind. Was Ihr Browser gezeigt hat, fehlt oder gilt nicht.',
    },
    403: {
      title: 'Kein Zutritt',
      text: 'Was Ihr Browser gezeigt hat, öffnet diese Adresse nicht.',
    },
    404: {
      title: 'Hier ist nichts',
      text: 'Vielleicht ist die Adresse vertippt, oder was hier war, ist fort.',
    },
    407: {
      title: 'Der Proxy fragt, wer Sie sind',
      text: 'Ihr Browser benutzt einen Proxy. Was er dort gezeigt hat, fehlt oder gilt nicht.',
    },
    413: { title: 'Das ist zu lang', text: 'Hier wird weniger angenommen, als gesendet wurde.' },
    429: {
      title: 'Zu viele Anfragen',
      text: 'Von hier wurde in kurzer Zeit zu viel gefragt. Warten Sie einen Moment und versuchen Sie es noch einmal.',
    },
    5: {
      title: 'Etwas ist schiefgegangen',
      text: 'Das ist unser Fehler. Der Grund steht im Protokoll des Servers. Versuchen Sie es gleich noch einmal.',
    },
    502: {
      title: 'Die Anwendung antwortet nicht',
      text: 'Sie ist nicht zu erreichen, oder was sie sagt, ist nicht zu verstehen. Versuchen Sie es gleich noch einmal.',
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
    titleWithPlayground: (brand) => `Ressourcenserver von ${brand}, mit Spielwiese`,
    lead: (authorizationServer) =>
      html`Dieser Server bewahrt Dokumente auf und lässt ein, wer Zugangsdaten dafür zeigt. Tokens
      kommen vom ${authorizationServer}. Ein widerrufenes Token wird schon von der nächsten Anfrage
      an abgelehnt.`,
    authorizationServer: 'Autorisierungsserver',
    again: (origin) => html`Alles davon gibt es auch unter ${origin}.`,
    schemes: 'Nimmt',
    reading: 'Lesen braucht',
    writing: 'Schreiben braucht',
    noScope: 'keinen Scope',
    metadata: 'Metadaten',
    metadataText: 'für Programme (RFC 9728)',
    own: 'Jeder Mensch und jede Anwendung findet dort einen eigenen Baum, der sich einbinden lässt (WebDAV).',
    authors: 'Für Autoren von Clients',
    trials: 'Jede dieser Adressen antwortet in JSON, wer der Client ist und nach welchem Schema:',
    playground: 'Spielwiese: jedes Verfahren als Nachrichten sehen',
    operators: 'Für Betreiber',
    ready: 'ob der Server arbeiten kann',
    verify: 'sagt einem vertrauten Reverse-Proxy, ob eine Anfrage passieren darf',
  },

  playground: {
    title: 'Spielwiese',
    lead: 'Jede Seite hier führt eine Anmeldung vor: ein eigener Client fragt diesen Server, und Sie sehen beide Nachrichten jedes Schritts, und was der Server prüft. Von Ihnen wird nichts verwendet. Die Texte über die Protokolle sind englisch.',
    path: 'Wo Sie sind',
    standard: 'Standard',
    document: 'Dokument',
    command: 'Von Ihrer eigenen Shell aus',
    perform: 'Den Austausch vorführen',
    performText: 'Der Client hat ein eigenes Konto, das nur diesen Ort öffnet.',
    mistake: 'Ein Fehler des Clients',
    noMistake: 'Keiner',
    mistakeHere: 'Hier macht der Client seinen Fehler:',
    version: 'Version von HTTP',
    fieldLists:
      'Diese Nachrichten gingen über HTTP/2. Jede ist als Liste ihrer Felder gezeigt: unterwegs sind sie komprimiert, und alles steht in Frames (RFC 9113).',
    inEnglish: 'Die Texte über das Protokoll sind englisch, auch die Anmerkungen und Prüfungen.',
    steps: 'Die Schritte',
    step: 'Schritt',
    octets:
      'Der Inhalt ist kein Text. Je zwei Ziffern, von 00 bis ff, sind eines seiner Oktette (hexadezimal).',
    button: 'Vorführen',
    picture: 'Der Austausch als Bild',
    client: 'Client',
    server: 'Server',
    issuer: 'Aussteller',
    proxy: 'Proxy',
    authorization: 'Autorisierungsserver',
    browser: 'Browser',
    sent: 'Der Client sendet',
    sentByBrowser: 'Der Browser sendet',
    promised: 'Der Server verspricht diese Anfrage',
    received: 'Der Server antwortet',
    decoded: 'Dekodiert steht da:',
    fields: 'Was die Felder bedeuten',
    checks: 'Was der Server prüft, in dieser Reihenfolge',
    outcomes: {
      accepted: 'Angenommen.',
      continued: 'Es geht weiter: der Client beantwortet die Challenge.',
      asked: 'Der Server fragt nach Zugangsdaten.',
      pending: 'Noch nicht: der Client fragt später wieder.',
      refused: 'Abgelehnt:',
    },
    failed: 'diese Prüfung schlug fehl:',
    reason: 'Der Grund:',
    missing: 'Verfahren, die hier nicht vorgeführt werden:',
  },

  explain: {
    title: 'Erklären',
    lead: 'Fügen Sie ein Token, einen Beweis, eine Challenge, Zugangsdaten, ein Feld Cache-Status oder If oder eine ganze Anfrage oder Antwort ein. Sie sehen die Teile, und was ein Server daran prüft.',
    kept: 'Dieser Server behält, protokolliert und holt nichts davon. Die Erklärungen sind englisch.',
    label: 'Text, höchstens 16 KB',
    button: 'Erklären',
    problem: 'Nichts davon lässt sich erklären.',
    parts: 'Die Teile',
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
