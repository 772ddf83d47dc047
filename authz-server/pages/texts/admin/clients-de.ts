import type { CLIENTS } from '#shared/refusals/clients.ts';
import { translated } from '#shared/refusals/languages.ts';

/** The mistakes in a key or a document of a client. */
export const clientsDe = translated<typeof CLIENTS>()({
  'key-object': 'Der Schlüssel ist kein Objekt',
  'key-no-format': 'Der Schlüssel hat keins von {names}: Senden Sie eins davon',
  'key-formats': 'Der Schlüssel hat mehr als eins von {names}: Senden Sie nur eins',
  'key-certificate': 'Ein Schlüssel für mtls ist ein Zertifikat: Senden Sie cert oder cert#S256',
  'key-pem': 'cert ist kein Zertifikat in PEM',
  'key-no-jwk': 'Ein Schlüssel für httpsig ist ein öffentlicher Schlüssel: Senden Sie ihn als jwk',
  'key-private':
    'jwk enthält einen privaten oder symmetrischen Schlüssel: Senden Sie nur den öffentlichen Teil',
  'key-kid': 'jwk hat kein kid mit 1 bis {most} Zeichen: Fügen Sie eins hinzu',
  'key-alg': 'alg von jwk wird nicht unterstützt: Verwenden Sie eins von {names}',
  'key-of-other-alg': 'jwk ist kein öffentlicher Schlüssel für sein alg',
  'key-proof': 'proof ist weder httpsig noch mtls: Verwenden Sie eins davon',
  'key-proof-alg': 'alg von proof ist nicht das des Schlüssels: Verwenden Sie das von {alg}',
  'key-digest': 'content-digest-alg ist weder sha-256 noch sha-512: Verwenden Sie eins davon',
  'document-object': 'Das Dokument ist kein JSON-Objekt',
  'document-address': 'client_id ist nicht die Adresse des Dokuments',
  'document-no-keys': 'jwks fehlt: private_key_jwt braucht jwks oder jwks_uri',
  'document-idle-keys':
    'jwks hat ohne private_key_jwt keinen Zweck: Entfernen Sie jwks und jwks_uri',
  'document-keys-elsewhere':
    'jwks_uri gehört nicht zum Ursprung des Dokuments: Legen Sie die Schlüssel dort ab',
  'document-value': 'muss {value} enthalten',
  'document-key': 'muss ein öffentlicher Schlüssel sein, bei RSA mit 2048 bis 4096 Bit',
  'document-secret': 'darf nicht vorhanden sein: Jeder kann das Dokument lesen',
  'document-loopback': 'muss auf dem eigenen Rechner http sein',
  'document-status': '{server} hat mit {status} statt 200 geantwortet',
  'document-type': 'Der Inhalt hat den Typ {type}, nicht JSON',
  'document-no-type': 'Der Typ des Inhalts fehlt: Senden Sie application/json',
  'no-answer': '{server} hat nicht geantwortet: {why}',
  'network-time': 'Die Zeit ist abgelaufen',
  'network-denied': 'Die Konfiguration erlaubt es nicht',
  'network-long': 'Die Antwort ist länger als {most} Byte',
  'network-untrusted': '{detail}; NODE_EXTRA_CA_CERTS nennt weitere Zertifizierungsstellen',
  'network-name': 'Der Name hat keine Adresse ({detail})',
  'network-connection': 'Die Verbindung ist gescheitert ({detail})',
  'network-other': '{detail}',
});
