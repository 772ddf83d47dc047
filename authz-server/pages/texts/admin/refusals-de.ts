import { clientsDe } from './clients-de.ts';
import type { OPERATIONS } from '#shared/refusals/operations.ts';
import { translated } from '#shared/refusals/languages.ts';

/** Refusals of operations. One about a field goes on after its label. */
export const refusalsDe = translated<typeof OPERATIONS>()({
  ...clientsDe,

  missing: 'fehlt',
  'missing-redirect-uris': 'fehlt; authorization_code schickt seinen Code dorthin',
  'missing-scope':
    'fehlt; nur ein Client, der Tokens prüft oder eine Ressource ohne Rechte nennt, braucht keins',
  'missing-name': 'fehlt; ohne ihn geben Sie nur eine E-Mail-Adresse an',
  'missing-name-unregistered':
    'fehlt, und people.registration ist off: Geben Sie ihn an, oder setzen Sie das auf invited',
  'given-twice': 'ist zweimal angegeben',
  'given-to-clear': 'ist angegeben und soll zugleich geleert werden: Wählen Sie eins',
  'secret-in-address': 'ist geheim und darf nicht in einer Adresse stehen',
  'unknown-member': 'gibt es hier nicht',
  type: 'muss vom Typ {type} sein',
  flag: 'muss „true“ oder „false“ sein',
  choice: 'muss eins von diesen sein: {names}',
  'whole-number': 'muss eine ganze Zahl von {least} bis {most} sein',
  'too-small': 'muss mindestens {least} sein',
  'too-large': 'darf höchstens {most} sein',
  'too-long': 'darf höchstens {most} Zeichen haben',
  'too-many': 'darf höchstens {most} Werte haben',
  'too-few': 'muss mindestens {least} Werte haben',
  'too-many-octets': 'dürfen zusammen höchstens {most} Oktette haben',
  'each-once': 'dürfen jeweils nur einmal vorkommen',
  reference: 'fehlt oder ist zu lang',
  'empty-part': 'fehlt: Ohne Angabe wäre alles gemeint',
  'page-unknown': 'gehört zu keiner Seite der Liste: Beginnen Sie mit der ersten',
  'page-gone': 'gehört zu keiner Seite der Liste: Beginnen Sie mit der ersten',
  moment: 'muss eine Zeit sein, etwa 2026-11-25, 2026-11-25T08:00Z oder 2h (vor zwei Stunden)',
  'event-kind': 'muss eine Art von Ereignis sein',
  'visible-name': 'muss 1 bis 100 Zeichen haben, keins davon unsichtbar',
  'mail-address': 'muss eine Adresse wie alice@example.com sein',
  'group-name': 'muss 1 bis 64 sichtbare Zeichen ohne Komma haben',
  'attribute-name':
    'muss etwa department=research sein: ein Name aus 1 bis 64 Buchstaben, Ziffern und . _ -',
  'attribute-value': 'muss sichtbarer Text in einer Zeile sein, mit 1 bis {most} Oktetten',
  'language-tag': 'muss ein Sprachkürzel wie de-DE sein',
  'picture-url':
    'muss eine Adresse mit http:// oder https:// sein, ohne Passwort, mit höchstens {most} Oktetten',
  'logo-url':
    'muss eine Adresse wie https://app.example/logo.png sein, mit höchstens 1024 Oktetten',
  'logout-url':
    'muss eine Adresse wie https://app.example/logout sein, ohne Passwort und ohne Fragment',
  'start-url': 'muss eine Adresse wie https://app.example/ sein, ohne Passwort',
  origin:
    'muss eine Herkunft wie https://app.example sein, ohne Pfad und ohne Schrägstrich am Ende',
  'claim-form': 'muss eine Regel sein, etwa role=admin if group admins',
  'claim-name':
    'muss mit dem Namen eines Claims beginnen: ein Buchstabe, dann höchstens 127 Buchstaben, Ziffern und _ . : / -',
  'claim-reserved': 'hat {claim}, woran Server ein Token erkennen: Wählen Sie einen anderen Claim',
  'claim-known': 'hat {claim}: Schreiben Sie {known}',
  'claim-case': 'hat {text}: Schreiben Sie {near}, oder "{text}", wenn Sie diesen Text meinen',
  'claim-text': 'hat einen Text mit mehr als {most} Oktetten',
  'claim-quotes':
    'braucht Anführungszeichen (") um einen Text mit Leerzeichen oder anderen Zeichen',
  'claim-condition':
    'hat {word} nach if: Schreiben Sie group NAME, person NAME oder attribute NAME is TEXT',
  'claim-words':
    'hat {word}, wo if oder das Ende stehen muss: Setzen Sie einen Text in Anführungszeichen (")',
  'claim-after': 'zählt nie: Eine frühere Regel für {claim} trifft immer zu',
  'document-url':
    'muss eine Adresse mit https:// und einem Pfad sein, ohne Benutzer, Abfrage und Fragment',
  'document-unusable': 'kann nicht verwendet werden: {why}',
  'document-says': 'steht in der Beschreibung: Lassen Sie es weg',
  'not-scope': 'hat „{token}“, und das ist kein Recht (scope)',
  'jwk-set': 'ist kein JWK Set aus öffentlichen Schlüsseln',
  'private-key': 'enthält einen privaten Schlüssel: Geben Sie nur den öffentlichen Teil an',
  'jwk-alg': 'ist kein öffentlicher Schlüssel für {algs}',
  'no-public-key': 'ist kein öffentlicher Schlüssel in PEM, in DER oder als JWK',
  'key-type': 'ist ein Schlüssel der Art {type}; {scheme} nimmt {types}',
  'key-use': 'ist für etwas anderes als Unterschriften (use)',
  'gnap-key': 'ist weder ein öffentlicher JWK noch ein Zertifikat in PEM: {why}',
  'gnap-key-kept': 'hat keinen öffentlichen Schlüssel, den GNAP nimmt: {why}',

  'not-of-gnap':
    'gibt es nicht bei Clients mit GNAP, die sich mit ihrem Schlüssel ausweisen: Lassen Sie es weg',
  'refresh-of-gnap': 'refresh_token gibt es nicht bei Clients mit GNAP: Lassen Sie es weg',
  'only-of-gnap': 'gibt es nur bei Clients mit GNAP: Geben Sie auch deren Schlüssel an',
  'public-credentials':
    'heißt, dass er sich nicht ausweisen kann: Lassen Sie client_credentials weg',
  'public-keys': 'heißt, dass er weder Geheimnis noch Schlüssel hat: Lassen Sie beides weg',
  'public-introspects': 'braucht einen Client, der sich ausweist',
  'public-without-pkce':
    'geht nicht: Ohne Geheimnis bindet nur PKCE einen Code an den Client: Lassen Sie es weg',
  'only-of-codes': 'gibt es nur mit authorization_code: Wählen Sie diese Art von Zugriff auch',
  'only-of-sign-in':
    'gibt es nur bei einer Anmeldung im Browser, denn die Seite für Geräte fragt immer: Wählen Sie auch authorization_code',
  'native-first-party':
    'geht nicht: Ein anderes Programm auf dem Rechner kann sich als installierte App ausgeben (RFC 8252, Abschnitt 8.6)',
  'only-of-machines':
    'gibt es nur bei einer Maschine: Wählen Sie auch client_credentials. Eine Person wird auf ihrer eigenen Seite Verwalter',
  'refresh-of-nobody':
    'refresh_token erneuert, was eine Person erlaubt hat: Wählen Sie auch authorization_code oder device_code',
  'only-of-people': 'gibt es nur mit Personen: Wählen Sie auch authorization_code oder device_code',
  'only-of-browsers': 'gibt es nur mit einem Browser: Wählen Sie auch authorization_code',
  'pkce-openid':
    'braucht das Recht openid: Statt PKCE bindet die nonce des ID-Tokens einen Code an seine Sitzung',
  'fapi-keys':
    'fapi2 ist für Clients, die sich mit einem Schlüssel ausweisen: Geben Sie dessen öffentlichen Teil und private_key_jwt an',
  'fapi-device': 'fapi2 kennt keine Anmeldung an Geräten: Lassen Sie device_code weg',
  'fapi-pkce': 'muss bei fapi2 required sein: Lassen Sie es weg',
  'fapi-id-token': 'muss bei fapi2 ES256 sein',
  'fapi-jwk':
    'hat einen Schlüssel für RS256, was fapi2 verbietet: Nehmen Sie PS256, ES256 oder EdDSA',
  'fapi-space':
    'nennt {url}, was fapi2 ausschließt: Nehmen Sie dort DPoP in schemes auf, und ein anderes Verfahren (alg) als RS256',
  'fapi-redirect':
    'müssen bei fapi2 mit https:// beginnen; http geht nur bei installierten Anwendungen',
  'default-beyond': 'geht über die Rechte des Clients hinaus: {scopes}',
  'admin-scope':
    'hat {scopes}, was nur Verwalter haben: Erlauben Sie dem Client, diesen Server zu verwalten',
  'jwks-with-method':
    'private_key_jwt und öffentliche Schlüssel gehören zusammen: Geben Sie beides an oder nichts davon',
  'mail-not-set': 'braucht die Einstellung mail, die es hier nicht gibt: Lassen Sie es weg',
  'compromised-only':
    'gibt es nur, wenn andere den Schlüssel haben: Wählen Sie sonst ein Verfahren',
  'kid-beside-alg': 'geht nicht neben einem Verfahren: Geben Sie nur eins an',
  'of-api-keys': 'gibt es nur bei API-Schlüsseln: Lassen Sie es weg, oder wählen Sie diese',
  'of-concealed': 'gibt es nur bei Concealed: Lassen Sie es weg, oder wählen Sie Concealed',
  'no-realm': 'gibt es nicht: Kein Bereich nimmt API-Schlüssel. Nennen Sie in einem API-Key',
  realm: 'muss eins sein, das API-Schlüssel nimmt: {realms}',
  'of-hoba': 'gibt es nur bei HOBA',
  'no-origin': 'muss für HOBA TLS haben, und kein Bereich hat es',
  'tls-origin': 'muss eine mit TLS sein: {origins}',

  'uri-relative': 'muss eine vollständige Adresse wie https://app.example/callback sein',
  'uri-fragment': 'darf kein Fragment (#) haben',
  'uri-user': 'darf keinen Benutzer vor dem Host (@) haben',
  'uri-form': 'muss in der üblichen Form stehen, {form}',
  'uri-native':
    'muss mit https:// beginnen, auf localhost, 127.0.0.1 oder [::1] mit http://, oder ein Schema mit Punkt haben, wie com.example.app:/callback',
  'uri-scheme':
    'muss mit https:// beginnen, oder mit http:// auf localhost, 127.0.0.1 oder [::1]; ein anderes Schema hat nur eine installierte App',

  'person-name':
    'Ein Name hat 1 bis 64 Buchstaben, Ziffern und . _ @ + -: Wählen Sie einen anderen',
  'password-short': 'Ein Passwort hat mindestens {least} Zeichen: Wählen Sie ein längeres',
  'password-long': 'Das Passwort ist zu lang: Wählen Sie ein kürzeres',
  'password-characters':
    'Ein Passwort hat keine Steuerzeichen und kein Zeilenende: Wählen Sie ein anderes',
  'password-common':
    'Dieses Passwort ist eins der häufigsten, die andere zuerst raten: Wählen Sie ein anderes',
  'password-replaced': 'Das Passwort hat inzwischen jemand geändert: Beginnen Sie noch einmal',
  principal: '{principal} ist kein Principal mit seinem Realm, wie alice@EXAMPLE.COM',
  'no-person': 'Es gibt keine Person {name}.',
  'already-linked': '{name} hat schon ein Konto von {source}: Trennen Sie es zuerst.',
  managed:
    'Die Quelle {source} bestimmt {part}: Ändern Sie es dort; die nächste Anmeldung bringt es hierher.',
  'name-taken': 'Den Namen {name} gibt es schon: Wählen Sie einen anderen.',
  'name-former':
    '{name} war der Name einer gelöschten Person, und was dem Namen erlaubt ist, bekäme die neue: Wählen Sie einen anderen, oder bestätigen Sie es.',
  'address-taken':
    '{address} ist eine bestätigte Adresse von {owner}: Nehmen Sie sie zuerst dort weg.',
  'address-gone': 'Die Adresse {address} gehört der Person nicht mehr.',
  'alias-taken': '{alias} gehört {owner}: Nehmen Sie es der Person zuerst weg.',
  'person-raced':
    'Inzwischen wurden andere geändert, deshalb blieb {name} aus: Versuchen Sie es noch einmal.',
  'address-unverified':
    '{name} hat keine bestätigte E-Mail-Adresse: Geben Sie den Link selbst weiter.',
  'no-address': '{name} hat keine E-Mail-Adresse: Geben Sie eine an.',
  disabled: '{name} ist gesperrt: Entsperren Sie die Person zuerst.',
  'can-sign-in':
    '{name} kann sich schon anmelden. Wer das Passwort vergessen hat, bekommt einen Link zur Wiederherstellung.',
  'administrator-there':
    '{name} verwaltet diesen Server und kann sich anmelden: Geben Sie von dort aus weiteren Personen das Recht zur Verwaltung.',
  'invited-already': '{name} ist schon eingeladen: Ändern Sie das Profil.',
  'no-second-factor': '{name} hat keinen zweiten Faktor.',
  'no-key-of-person': '{name} hat keinen Schlüssel {id}.',
  'no-passkey': '{name} hat keinen Passkey {id}.',
  'last-passkey':
    'Der Passkey {id} ist der letzte Weg, auf dem {name} hereinkommt: Geben Sie der Person zuerst einen anderen, oder bestätigen Sie es.',
  'one-part': 'Geben Sie nur eins davon an: {names}.',
  'no-grant-of-person': '{name} hat keinen Zugriff {id}.',
  'no-sign-in-of-person': '{name} hat keine Anmeldung {id}.',
  'no-client-of-person': '{name} hat keinen Client {id}.',

  'no-setting': 'Sie haben nichts angegeben, was sich ändern soll.',
  'no-client': 'Es gibt keinen Client {client}.',
  'client-built-in': 'Der Client {client} steht in der Konfiguration: Ändern Sie ihn dort.',
  'client-built-in-secret':
    'Der Client {client} gehört zum Server: Sein Geheimnis folgt aus dem Hauptgeheimnis.',
  'client-built-in-end':
    'Den Client {client} braucht der Server selbst: Beenden Sie seine Zugriffe einzeln.',
  'client-without-secret': 'Der Client {client} hat kein Geheimnis: Er verwendet {method}.',
  'client-without-keys':
    'Der Client {client} weist sich mit {method} aus, nicht mit private_key_jwt: Lassen Sie die Schlüssel weg.',
  'client-of-document':
    'Der Client {client} ist, was sein Dokument sagt: Ändern Sie das Dokument, oder entfernen Sie den Client und legen einen mit diesen Einstellungen an.',
  'client-raced':
    'Den Client {client} hat inzwischen jemand geändert oder entfernt: Versuchen Sie es noch einmal.',
  'client-registered': 'Der Client {client} ist schon registriert.',
  'client-has-key': 'Der Client {client} hat diesen Schlüssel schon.',
  'no-grant-of-client': '{client} hat keinen Zugriff {id}.',
  'identifier-taken': 'Die Kennung gibt es schon: Versuchen Sie es noch einmal.',

  'no-key': 'Es gibt keinen Schlüssel {id}.',
  'key-removed': 'Den Schlüssel {id} hat inzwischen jemand entfernt.',
  'key-taken':
    'Den Schlüssel {id} gibt es schon, und keiner gilt zweimal: Nehmen Sie einen anderen.',
  'key-full':
    'Der Schlüssel {id} wäre einer zu viel, es gibt schon {most}: Entfernen Sie zuerst einen.',
  'key-of-client': 'Der Schlüssel {id} ist der eines Clients: Nehmen Sie einen anderen.',
  'key-of-scheme':
    'Mit dem Schlüssel {id} kommt schon jemand herein ({scheme}): Nehmen Sie einen anderen.',
  'no-signing-key':
    'Mit {alg} unterschreibt jetzt kein Schlüssel: Nennen Sie die Kennung des Schlüssels.',
  'no-key-to-rotate': 'Es gibt keinen Schlüssel mit {alg}, der zu ersetzen wäre.',
  'rotation-under-way':
    'Ein Wechsel ist schon im Gang: Der Schlüssel {kid} unterschreibt ab {time}.',
  'token-key-under-way': 'Ein Wechsel des Schlüssels für {type} ist schon im Gang.',
  'token-key-next':
    'Ein Wechsel des Schlüssels für {type} ist schon im Gang: Der nächste gilt ab {time}.',
  'no-token-key':
    'Es gibt keinen Schlüssel für {type}, der zu ersetzen wäre: Starten Sie zuerst den Autorisierungsserver.',
  'token-keys-full':
    'Es gibt {count} Schlüssel für {type}, mehr dürfen es nicht sein: Der nächste endet am {time}.',
  'no-token-key-id': 'Kein Schlüssel für {type} hat eine gekürzte Kennung, die frei ist.',
  'no-private-tokens':
    'Dieser Server gibt keine PrivateTokens aus: In der Konfiguration fehlt privateTokens.',

  'not-asked-url':
    '{url} ist keine Adresse, nach der ein Client fragt: Sie beginnt mit https:// und ist kodiert.',
  'no-cache': 'Kein Cache hat {url}: In der Konfiguration gibt es keinen.',
  'no-cache-there': 'Kein Cache hat {url}. Bereiche mit einem: {spaces}.',
  quoted: 'muss ein Text in Anführungszeichen sein',
  'ban-path': 'muss mit / oder * beginnen und darf höchstens 2048 sichtbare Zeichen haben',
  'ban-tag': 'muss 1 bis 256 sichtbare Zeichen haben',
  'ban-status': 'muss ein Status oder eine Klasse wie 5xx sein',
  'ban-wildcards': 'hat mehr als {most} Sterne',
  'empty-ban': 'Sie haben nicht angegeben, was entfernt wird: Pfad, Marke oder Status.',
  'nothing-to-revoke':
    'Es gibt nichts zu widerrufen, denn kein Server nimmt dieses Token an ({why}).',
  other: 'ist falsch ({issue})',
});
