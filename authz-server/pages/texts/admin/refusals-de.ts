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
  [/^must be (?:an id of )?at most ([\d,]+) characters$/, 'darf höchstens $1 Zeichen haben'],
  [/^must be an? (?:name|address) of at most (\d+) characters$/, 'darf höchstens $1 Zeichen haben'],
  [/^must be a whole number from (\d+) to (\d+)$/, 'muss eine ganze Zahl von $1 bis $2 sein'],
  [
    /^must be (?:the (?:client_id|name|beginning|id|kid|fingerprint) of a \w+|a group|an access token)$/,
    'fehlt oder ist zu lang',
  ],
  [
    /^must be an id: without any it would mean everything$/,
    'fehlt: Ohne Angabe wäre alles gemeint',
  ],
  [
    /^must be 1 to (\d+) visible characters without a comma$/,
    'muss 1 bis $1 sichtbare Zeichen ohne Komma haben',
  ],
  [/^must be a language tag such as .*$/, 'muss ein Sprachkürzel wie de-DE sein'],
  [
    /^must be a URL of http or https without a password, of at most (\d+) octets$/,
    'muss eine Adresse mit http:// oder https:// sein, ohne Passwort, mit höchstens $1 Oktetten',
  ],
  [
    /^must be an https address with a path, .*$/,
    'muss eine Adresse mit https:// und einem Pfad sein, ohne Benutzer, Abfrage und Fragment',
  ],
  [/^must be a kind of .*$/, 'muss eine Art von Ereignis sein'],
  [
    /^(?:must be the `next` of .*|is no row of the list any more: .*)$/,
    'gehört zu keiner Seite der Liste: Beginnen Sie mit der ersten',
  ],
  [/^is not a JWK Set of public keys$/, 'ist kein JWK Set aus öffentlichen Schlüsseln'],
  [
    /^is neither a public JWK nor a certificate in PEM: .*$/,
    'ist weder ein öffentlicher JWK noch ein Zertifikat in PEM',
  ],
  [
    /^is about clients of GNAP: .*$/,
    'gibt es nur bei Clients mit GNAP: Geben Sie auch deren Schlüssel an',
  ],
  [
    /^is about authorization codes: .*$/,
    'gibt es nur mit authorization_code: Wählen Sie diese Art von Zugriff auch',
  ],
  [
    /^is about sign-in in a browser; .*$/,
    'gibt es nur bei einer Anmeldung im Browser, denn die Seite für Geräte fragt immer: Wählen Sie auch authorization_code',
  ],
  [
    /^is for a machine, and a person is an administrator by .*$/,
    'gibt es nur bei einer Maschine: Wählen Sie auch client_credentials. Eine Person wird auf ihrer eigenen Seite Verwalter',
  ],
  [
    /^is for a compromised key only; .*$/,
    'gibt es nur, wenn andere den Schlüssel haben: Wählen Sie sonst ein Verfahren',
  ],
  [
    /^needs the setting mail, which is not there: .*$/,
    'braucht die Einstellung mail, die es hier nicht gibt: Lassen Sie es weg',
  ],
  [/^has "(.*)", which is not a scope$/, 'hat „$1“, und das ist kein Recht (scope)'],
  [
    /^(.*) must be an absolute URI, such as (\S+)$/s,
    '$1 muss eine vollständige Adresse wie $2 sein',
  ],
  [
    /^(.*) must be https, or http on localhost, 127\.0\.0\.1 or \[::1\]; other schemes need .*$/s,
    '$1 muss mit https:// beginnen, oder mit http:// auf localhost, 127.0.0.1 oder [::1]; ein anderes Schema hat nur eine installierte App',
  ],
  [/^(.*) must have no fragment \(#\)$/s, '$1 darf kein Fragment (#) haben'],
  [
    /^"(.*)" is no principal with its realm, such as (\S+)$/s,
    '„$1“ ist kein Principal mit seinem Realm, wie $2',
  ],
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
    /^must be an address such as alice@example\.com(?:, of at most .*)?$/,
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
  [
    /^client (\S+) is what its document says: change that, or remove the client$/i,
    'Der Client $1 ist, was sein Dokument sagt: Ändern Sie das, oder entfernen Sie den Client.',
  ],
  [/^client (\S+) has this key already$/i, 'Der Client $1 hat diesen Schlüssel schon.'],
  [
    /^client (\S+) was changed(?: or removed)? meanwhile: .*$/i,
    'Den Client $1 hat inzwischen jemand geändert oder entfernt: Versuchen Sie es noch einmal.',
  ],
  [
    /^the identifier is taken: try again$/i,
    'Die Kennung gibt es schon: Versuchen Sie es noch einmal.',
  ],
  [
    /^the passkey (\S+) is the last way in of (\S+): give them another first .*$/i,
    'Der Passkey $1 ist der letzte Weg, auf dem $2 hereinkommt: Geben Sie der Person zuerst einen anderen, oder bestätigen Sie es.',
  ],
  [
    /^the key (\S+) is known already, and no key is used twice: make another$/i,
    'Den Schlüssel $1 gibt es schon, und keiner gilt zweimal: Nehmen Sie einen anderen.',
  ],
  [
    /^the key (\S+) would be one too many, there are (\d+): remove one first$/i,
    'Der Schlüssel $1 wäre einer zu viel, es gibt schon $2: Entfernen Sie zuerst einen.',
  ],
  [
    /^the key (\S+) is that of a client of the authorization server: make another$/i,
    'Der Schlüssel $1 ist der eines Clients: Nehmen Sie einen anderen.',
  ],
  [/^the key (\S+) was removed meanwhile$/i, 'Den Schlüssel $1 hat inzwischen jemand entfernt.'],
  [
    /^(\S+) is a key for (\S+): make another$/,
    'Mit dem Schlüssel $1 kommt schon jemand herein ($2): Nehmen Sie einen anderen.',
  ],
  [
    /^(\S+) has no verified address: leave .+ out$/,
    '$1 hat keine bestätigte E-Mail-Adresse: Geben Sie den Link selbst weiter.',
  ],
  [
    /^(\S+) is a verified address of (\S+): take it from them first, or leave it unverified$/,
    '$1 ist eine bestätigte Adresse von $2: Nehmen Sie sie zuerst dort weg.',
  ],
  [
    /^(\S+) belongs to (\S+): take it from them first$/,
    '$1 gehört $2: Nehmen Sie es der Person zuerst weg.',
  ],
  [
    /^(\S+) was the name of somebody who was removed, and what is granted by name would be theirs: choose another, or reuse the name \(.+\)$/,
    '$1 war der Name einer gelöschten Person, und was dem Namen erlaubt ist, bekäme die neue: Wählen Sie einen anderen, oder bestätigen Sie es.',
  ],
  [
    /^a rotation is under way: key (\S+) signs from (\S+)$/i,
    'Ein Wechsel ist schon im Gang: Der Schlüssel $1 unterschreibt ab $2.',
  ],
  [/^(\S+) has no grant (.*): see \w+ access \S+$/s, '$1 hat keinen Zugriff $2.'],
  [/^(\S+) has no sign-in (.*): see user access \S+$/s, '$1 hat keine Anmeldung $2.'],
  [/^(\S+) has no client (.*): see user access \S+$/s, '$1 hat keinen Client $2.'],
  [/^(\S+) has no passkey (.*): see user passkey list \S+$/s, '$1 hat keinen Passkey $2.'],
  [
    /^(\S+) is here already and can sign in: user recover \S+ makes a link for a new password$/,
    '$1 kann sich schon anmelden. Wer das Passwort vergessen hat, bekommt einen Link zur Wiederherstellung.',
  ],
  [/^there is no (\S+) key to rotate$/i, 'Es gibt keinen Schlüssel mit $1, der zu ersetzen wäre.'],
  [
    /^this pair issues no tokens: add privateTokens to the configuration$/i,
    'Dieser Server gibt keine PrivateTokens aus: In der Konfiguration fehlt privateTokens.',
  ],
  [
    /^no cache has (.*): no space is configured with one$/is,
    'Kein Cache hat $1: In der Konfiguration gibt es keinen.',
  ],
  [/^(\S+) has no second factor$/, '$1 hat keinen zweiten Faktor.'],
  [/^(\S+) has no key (.*)$/, '$1 hat keinen Schlüssel $2.'],
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
    /^(.*) is no URL as clients ask for it: .*$/,
    '$1 ist keine Adresse, nach der ein Client fragt: Sie beginnt mit https:// und ist kodiert.',
  ],
  [
    /^(?:all )?the ban names nothing: .*$/i,
    'Sie haben nicht angegeben, was entfernt wird: Pfad, Marke oder Status.',
  ],
];
