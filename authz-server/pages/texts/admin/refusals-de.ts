/**
 * Messages of operations that administrators meet in forms, matched without their full stop. Those of a field go on after its
 * label. One that begins with what somebody typed is matched to its end, or a text could pass for another message.
 */
export const adminRefusalsDe: readonly (readonly [message: RegExp, words: string])[] = [
  [/^is missing$/, 'fehlt'],
  [
    /^is missing: .* authorization_code sends its code there$/,
    'fehlt; authorization_code schickt seinen Code dorthin',
  ],
  [
    /^is missing: a client needs a scope, .*$/,
    'fehlt; nur ein Client, der Tokens prüft oder eine Ressource ohne Rechte nennt, braucht keins',
  ],
  [
    /^is missing: without it give one address, and nothing else$/,
    'fehlt; ohne ihn geben Sie nur eine E-Mail-Adresse an',
  ],
  [/^is given twice$/, 'ist zweimal angegeben'],
  [
    /^is given, and to be cleared: choose one$/,
    'ist angegeben und soll zugleich geleert werden: Wählen Sie eins',
  ],
  [/^must have at most ([\d,]+) characters$/, 'darf höchstens $1 Zeichen haben'],
  [/^must be true or false$/, 'muss „true“ oder „false“ sein'],
  [/^must be one of (.+)$/, 'muss eins von diesen sein: $1'],
  [
    /^must be an ISO 8601 time .*$/,
    'muss eine Zeit sein, etwa 2026-11-25, 2026-11-25T08:00Z oder 2h (vor zwei Stunden)',
  ],
  [
    /^must be 1 to 100 characters, none of them invisible$/,
    'muss 1 bis 100 Zeichen haben, keins davon unsichtbar',
  ],
  [
    /^must be an address such as alice@example\.com$/,
    'muss eine Adresse wie alice@example.com sein',
  ],
  [
    /^must be an origin such as .*$/,
    'muss eine Herkunft wie https://app.example sein, ohne Pfad und ohne Schrägstrich am Ende',
  ],
  [
    /^must be a URL such as (\S+), of at most 1,024 octets$/,
    'muss eine Adresse wie $1 sein, mit höchstens 1024 Oktetten',
  ],
  [
    /^refresh_token renews what a person has allowed: .*$/,
    'refresh_token erneuert, was eine Person erlaubt hat: Wählen Sie auch authorization_code oder device_code',
  ],
  [/^is of browsers: .*$/, 'gibt es nur mit einem Browser: Wählen Sie auch authorization_code'],
  [
    /^means that it has no secret to prove who it is with: .*$/,
    'heißt, dass er sich nicht ausweisen kann: Lassen Sie client_credentials weg',
  ],
  [/^is not within .+: (.+)$/, 'geht über die Rechte des Clients hinaus: $1'],
  [
    /^has (.+), which is of administrators: .*$/,
    'hat $1, was nur Verwalter haben: Erlauben Sie dem Client, diesen Server zu verwalten',
  ],
  [
    /^a name is 1 to 64 letters, .*$/,
    'Ein Name hat 1 bis 64 Buchstaben, Ziffern und . _ @ + -: Wählen Sie einen anderen',
  ],
  [
    /^a password has at least (\d+) characters: .*$/,
    'Ein Passwort hat mindestens $1 Zeichen: Wählen Sie ein längeres',
  ],
  [/^a password has at most .*$/, 'Das Passwort ist zu lang: Wählen Sie ein kürzeres'],
  [
    /^a password has no control characters .*$/,
    'Ein Passwort hat keine Steuerzeichen und kein Zeilenende: Wählen Sie ein anderes',
  ],
  [
    /^this password is one of .*$/,
    'Dieses Passwort ist eins der häufigsten, die andere zuerst raten: Wählen Sie ein anderes',
  ],
  [
    /^the name (.+) is taken: choose another$/i,
    'Den Namen $1 gibt es schon: Wählen Sie einen anderen.',
  ],
  [
    /^no setting is given: name at least one$/i,
    'Sie haben nichts angegeben, was sich ändern soll.',
  ],
  [/^there is no person (.+)$/i, 'Es gibt keine Person $1.'],
  [/^there is no client (.+)$/i, 'Es gibt keinen Client $1.'],
  [/^there is no key (.+)$/i, 'Es gibt keinen Schlüssel $1.'],
  [/^(\S+) has no second factor$/, '$1 hat keinen zweiten Faktor.'],
  [/^(\S+) has no key (.+)$/, '$1 hat keinen Schlüssel $2.'],
  [/^(\S+) has no address: give --email$/, '$1 hat keine E-Mail-Adresse: Geben Sie eine an.'],
  [
    /^(\S+) is disabled: user enable \S+ comes first$/,
    '$1 ist gesperrt: Entsperren Sie die Person zuerst.',
  ],
  [
    /^(\S+) was invited already: change the profile with user set \S+$/,
    '$1 ist schon eingeladen: Ändern Sie das Profil.',
  ],
  [
    /^client (\S+) is built in: change the configuration instead$/i,
    'Der Client $1 steht in der Konfiguration: Ändern Sie ihn dort.',
  ],
  [
    /^client (\S+) is built in: end its grants one by one$/i,
    'Den Client $1 braucht der Server selbst: Beenden Sie seine Zugriffe einzeln.',
  ],
  [/^client (.+) is registered already$/i, 'Der Client $1 ist schon registriert.'],
  [
    /^nothing to revoke, no server accepts it: (.+)$/i,
    'Es gibt nichts zu widerrufen, denn kein Server nimmt dieses Token an ($1).',
  ],
  [
    /^(.+) is no URL as clients ask for it: .*$/,
    '$1 ist keine Adresse, nach der ein Client fragt: Sie beginnt mit https:// und ist kodiert.',
  ],
  [
    /^(?:all )?the ban names nothing: .*$/i,
    'Sie haben nicht angegeben, was entfernt wird: Pfad, Marke oder Status.',
  ],
];
