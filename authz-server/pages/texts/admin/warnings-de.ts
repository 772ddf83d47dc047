/** Warnings of the configuration (`shared/config/warnings.ts`), matched whole. They go on after the setting that they are about. */
export const adminWarningsDe: readonly (readonly [message: RegExp, words: string])[] = [
  [
    /^names none: everybody reaches the application, .*$/,
    'nennt keins: Alle erreichen die Anwendung, die selbst nach Anmeldedaten fragen muss',
  ],
  [
    /^is never met by (.+), whose credentials do not tell .*$/,
    'wird von $1 nie erfüllt: Solche Anmeldedaten sagen nicht, wie sich jemand angemeldet hat, und werden abgewiesen',
  ],
  [
    /^is not asked for: whoever knows a password gets in here, .*$/,
    'wird nicht verlangt: Wer ein Passwort kennt, kommt hier hinein, auch mit dem einer Person, die einen zweiten Faktor hat oder haben muss',
  ],
  [
    /^stands beside (\S+): browsers will show its dialog .*$/,
    'steht neben $1: Browser zeigen dessen Dialog, sobald ein Skript auf eine beendete Sitzung trifft. Geben Sie dem, was $1 braucht, einen eigenen Bereich',
  ],
  [
    /^gives a person no scopes, and some are needed here: .*$/,
    'gibt Personen keine Rechte, und hier sind welche nötig: Nennen Sie sie in grants',
  ],
  [
    /^is (\S+): what goes there in clear text can be read and changed on its way$/,
    'ist $1: Was unverschlüsselt dorthin geht, kann unterwegs gelesen und geändert werden',
  ],
  [
    /^hears of no change through (\S+), which has the same application: .*$/,
    'erfährt von keiner Änderung über $1, wo dieselbe Anwendung steht: Was sich dort ändert, muss hier mit PURGE oder BAN gesagt werden',
  ],
  [
    /^has every address: everybody may empty the cache$/,
    'umfasst jede Adresse: Alle dürfen den Cache leeren',
  ],
  [
    /^has (\S+), where trustedProxies has somebody: .*$/,
    'umfasst $1, wo laut trustedProxies ein Proxy steht: Von einem Proxy selbst sind trotzdem Anmeldedaten nötig, denn er kann vergessen haben zu sagen, für wen er fragt',
  ],
  [
    /^has another path than the space, and contents are not rewritten: .*$/,
    'hat einen anderen Pfad als der Bereich, und Inhalte werden nicht umgeschrieben: WebDAV-Clients finden in Antworten die URLs der Anwendung. Geben Sie beiden denselben Pfad, oder lassen Sie die Methoden von WebDAV weg',
  ],
  [
    /^has an IP address: browsers make and use no passkeys there .*$/,
    'hat eine IP-Adresse: Dort erstellen und benutzen Browser keine Passkeys (WebAuthn, Abschnitt 5.1.3). Nehmen Sie eine Domain oder localhost',
  ],
  [
    /^is (\d+), and (issuer|resource) is (\S+), where clients are sent: .*$/,
    'ist $1, und $2 ist $3, wohin Clients geschickt werden: Setzen Sie auch $2, wenn dort kein Proxy ist',
  ],
  [
    /^is over: \/\.well-known\/security\.txt is 404\. .*$/,
    'ist vorbei: /.well-known/security.txt ist 404. Prüfen Sie, ob die Kontakte noch stimmen, und setzen Sie eine neue Zeit',
  ],
  [
    /^is off, so that (\S+) lets in only what client add --document registers\. .*$/,
    'ist off: $1 lässt nur Clients ein, die hier mit ihrer Beschreibung registriert sind. Wenn das nicht gemeint ist, nennen Sie Hosts',
  ],
  [
    /^lacks (?:127\.0\.0\.1, where|the address from which) the proxy in front connects: .*$/,
    'fehlt die Adresse, von der aus der Proxy davor sich verbindet: Alle zählen als eine Adresse, für Grenzen und in Listen',
  ],
  [
    /^is allow: anybody may describe a client, .*$/,
    'ist allow: Alle dürfen einen Client beschreiben, und Fremde bestimmen, was der Server abruft. Nennen Sie Hosts, wenn das nicht gemeint ist',
  ],
  [
    /^takes clients that nobody registered, and no space has documentClients: .*$/,
    'nimmt Clients an, die niemand registriert hat, und kein Bereich hat documentClients: Sie können nichts bekommen',
  ],
  [
    /^is open: anybody may make an account and enter (.+)\. Give these spaces allow .*$/,
    'ist open: Alle dürfen ein Konto anlegen und haben Zugang zu $1. Geben Sie diesen Bereichen allow mit Gruppen oder Personen, wenn das nicht gemeint ist',
  ],
  [
    /^is off, so that nobody is asked for a code, and (\S+) asks for second-factor: .*$/,
    'ist off: Niemand wird nach einem Code gefragt, und $1 verlangt second-factor. Nur Personen mit einem Passkey kommen dort hinein. Setzen Sie es auf optional',
  ],
  [
    /^is (\S+), and mail servers speak (\S+) at port (\d+): .*$/,
    'ist $1, und Mailserver sprechen am Port $3 $2: Setzen Sie es auf $2, oder berichtigen Sie mail.port',
  ],
  [
    /^fits no passkey: browsers use none at (\S+), and people have some for (.+)\. Use https and a domain$/,
    'passt zu keinem Passkey: Browser benutzen bei $1 keinen, und Personen haben welche für $2. Nehmen Sie https und eine Domain',
  ],
  [
    /^is (\S+), and people have passkeys for (.+), which sign nobody in\. .*$/,
    'ist $1, und Personen haben Passkeys für $2, mit denen sich niemand anmelden kann. Setzen Sie die frühere Domain ein, oder lassen Sie neue Passkeys erstellen',
  ],
];
