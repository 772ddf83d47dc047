/**
 * Applications may keep sessions by themselves, and nobody tells them that something has ended here. Each text that says what
 * ends says this, too.
 */
export const ownSessionsEn =
  'An application may keep its own session: sign out of the application, too.';

export const ownSessionsDe =
  'Eine Anwendung mit eigener Sitzung läuft vielleicht weiter: Melden Sie sich auch dort ab.';
