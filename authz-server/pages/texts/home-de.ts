import { html } from '#shared/pages/html.ts';
import type { HomeTexts } from './home-en.ts';

export const homeDe: HomeTexts = {
  title: (brand) => `${brand}: Autorisierungsserver`,
  lead: (resourceServer) =>
    html`Hier melden sich Menschen an und entscheiden, was Anwendungen und Geräte in ihrem Namen
    dürfen. Clients bekommen Zugriffstoken für den ${resourceServer}. Ein widerrufenes Token wird
    schon bei der nächsten Anfrage abgelehnt.`,
  resourceServer: 'Ressourcenserver',
  signIn: 'Bei Ihrem Konto anmelden',
  developers: (tutorial) => html`Entwickler beginnen mit ${tutorial}.`,
  made: (file, login) =>
    html`Der erste Start hat eine Person und Clients zum Ausprobieren angelegt: Ihre Zugangsdaten
    stehen in ${file} im Datenordner. Ein Gerät probieren Sie mit ${login} aus.`,
  command: 'diesen Befehl',
  get: 'Ein Token holen',
  help: (command) => html`${command} sagt, wie man einen Client anlegt.`,
  end: 'Ein Token widerrufen',
  resources: 'Ressourcen und ihre Scopes',
  noScopes: 'keine Scopes',
  programs: 'Für Programme',
  metadata: 'was dieser Server kann (RFC 8414)',
  jwks: 'die Schlüssel, mit denen seine Token signiert sind',
  tokenIssuer: 'der Aussteller von Marken (PrivateToken, RFC 9578)',
  health: 'ob er gerade arbeiten kann',
};
