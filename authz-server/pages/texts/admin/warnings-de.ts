import type { WARNINGS } from '#shared/config/warning-texts.ts';
import { translated } from '#shared/refusals/languages.ts';

/** Warnings of the configuration. Each goes on after the setting that it is about. */
export const warningsDe = translated<typeof WARNINGS>()({
  'no-schemes':
    'nennt keins: Alle erreichen die Anwendung, die selbst nach Anmeldedaten fragen muss',
  'never-met':
    'wird von {schemes} nie erfüllt: Solche Anmeldedaten sagen nicht, wie sich jemand angemeldet hat, und werden abgewiesen',
  'second-factor-not-asked':
    'wird nicht verlangt: Wer ein Passwort kennt, kommt hier hinein, auch mit dem einer Person, die einen zweiten Faktor hat oder haben muss',
  dialog:
    'steht neben {scheme}: Browser zeigen dessen Dialog, sobald ein Skript auf eine beendete Sitzung trifft. Geben Sie dem, was {scheme} braucht, einen eigenen Bereich',
  'no-grants': 'gibt Personen keine Rechte, und hier sind welche nötig: Nennen Sie sie in grants',
  'clear-text':
    'ist {url}: Was unverschlüsselt dorthin geht, kann unterwegs gelesen und geändert werden',
  'cache-elsewhere':
    'erfährt von keiner Änderung über {url}, wo dieselbe Anwendung steht: Was sich dort ändert, muss hier mit PURGE oder BAN gesagt werden',
  'purge-by-all': 'umfasst jede Adresse: Alle dürfen den Cache leeren',
  'purge-by-proxy':
    'umfasst {network}, wo laut trustedProxies ein Proxy steht: Von einem Proxy selbst sind trotzdem Anmeldedaten nötig, denn er kann vergessen haben zu sagen, für wen er fragt',
  'other-path':
    'hat einen anderen Pfad als der Bereich, und Inhalte werden nicht umgeschrieben: WebDAV-Clients finden in Antworten die URLs der Anwendung. Geben Sie beiden denselben Pfad, oder lassen Sie die Methoden von WebDAV weg',
  'issuer-address':
    'hat eine IP-Adresse: Dort erstellen und benutzen Browser keine Passkeys (WebAuthn, Abschnitt 5.1.3). Nehmen Sie eine Domain oder localhost',
  'development-listens':
    'ist {host}, und dies ist Entwicklung, mit Demokonten und ausführlichen Fehlern: Veröffentlichen Sie die Ports nur an 127.0.0.1, oder setzen Sie issuer und resource auf https',
  'port-elsewhere':
    'ist {port}, und {member} ist {url}, wohin Clients geschickt werden: Setzen Sie auch {member}, wenn dort kein Proxy ist',
  'contacts-over':
    'ist vorbei: /.well-known/security.txt ist 404. Prüfen Sie, ob die Kontakte noch stimmen, und setzen Sie eine neue Zeit',
  'proxy-here':
    'fehlt 127.0.0.1, von wo sich der Proxy davor verbindet: Alle zählen als eine Adresse, für Grenzen und in Listen',
  'proxy-elsewhere':
    'fehlt die Adresse, von der aus der Proxy davor sich verbindet: Alle zählen als eine Adresse, für Grenzen und in Listen',
  'documents-off':
    'ist off: {setting} lässt nur Clients ein, die hier mit ihrer Beschreibung registriert sind. Wenn das nicht gemeint ist, nennen Sie Hosts',
  'documents-of-all':
    'ist allow: Alle dürfen einen Client beschreiben, und Fremde bestimmen, was der Server abruft. Nennen Sie Hosts, wenn das nicht gemeint ist',
  'documents-for-nothing':
    'nimmt Clients an, die niemand registriert hat, und kein Bereich hat documentClients: Sie können nichts bekommen',
  'registration-open':
    'ist open: Alle dürfen ein Konto anlegen und haben Zugang zu {spaces}. Geben Sie diesen Bereichen allow mit Gruppen oder Personen, wenn das nicht gemeint ist',
  'second-factor-off':
    'ist off: Niemand wird nach einem Code gefragt, und {setting} verlangt second-factor. Nur Personen mit einem Passkey kommen dort hinein. Setzen Sie es auf optional',
  'mail-tls':
    'ist {tls}, und Mailserver sprechen am Port {port} {usual}: Setzen Sie es auf {usual}, oder berichtigen Sie mail.port',
  'no-passkey-domain':
    'passt zu keinem Passkey: Browser benutzen bei {issuer} keinen, und Personen haben welche für {domains}. Nehmen Sie https und eine Domain',
  'other-passkey-domain':
    'ist {domain}, und Personen haben Passkeys für {domains}, mit denen sich niemand anmelden kann. Setzen Sie die frühere Domain ein, oder lassen Sie neue Passkeys erstellen',
  'empty-group':
    'ist {group}, und in dieser Gruppe ist niemand: Berichtigen Sie den Namen, oder nehmen Sie jemanden in die Gruppe auf',
  'server-of-store': 'hat einen Server, der noch eingerichtet werden muss: {reason}',
});
