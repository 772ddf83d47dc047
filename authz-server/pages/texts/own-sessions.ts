/**
 * Applications may keep sessions by themselves, and nobody tells them that something has ended here. Each text that says what
 * ends says this, too.
 */
export const ownSessionsEn =
  'An application with a session of its own may go on: sign out there, too.';

export const ownSessionsDe =
  'Eine Anwendung mit eigener Sitzung läuft vielleicht weiter: Melden Sie sich auch dort ab.';
