import { html, type Html } from '#shared/pages/html.ts';
import type { Language } from '#shared/pages/language.ts';

/** The texts of the page for a browser's key. */
interface KeyTexts {
  readonly title: string;
  readonly lead: (origin: Html) => Html;
  readonly noScript: string;
  readonly make: string;
  readonly instead: string;
  readonly name: string;
  readonly lets: string;
  readonly made: string;
  readonly fingerprint: string;
  readonly visit: (url: string) => string;
  readonly signOut: string;
  readonly forget: string;
  readonly answer: string;
  /** The script's messages, by result. */
  readonly said: Readonly<
    Record<
      'done' | 'signedOut' | 'forgotten' | 'in' | 'notIn' | 'failed' | 'noStore' | 'none',
      string
    >
  >;
}

export const KEY_TEXTS: Readonly<Record<Language, KeyTexts>> = {
  en: {
    title: 'Key of this browser',
    lead: (origin) =>
      html`With a key this browser signs in at ${origin} without a password (HOBA, RFC 7486). The
      key is made here, never leaves the browser, and cannot be read, not even by this page.`,
    noScript: 'The key is made by a script, and this browser runs none.',
    make: 'Make a key',
    instead: 'The new key replaces the key that this browser has.',
    name: 'What do you call this device?',
    lets: 'Account',
    made: 'Made',
    fingerprint: 'Fingerprint',
    visit: (url) => `Visit ${url}`,
    signOut: 'Sign out',
    forget: 'Forget this key',
    answer: 'Answer',
    said: {
      done: 'The key is made and registered. See below for its account.',
      signedOut: 'Signed out. Earlier signatures of the key are no longer valid.',
      forgotten:
        'This browser has forgotten the key. The account page still lists it: remove it there.',
      in: 'Signed in.',
      notIn: 'Not signed in',
      failed: 'This did not work',
      noStore: 'This browser keeps no keys',
      none: 'This browser has no key here. To make one, use a link of your account page.',
    },
  },
  de: {
    title: 'Schlüssel dieses Browsers',
    lead: (origin) =>
      html`Ein Schlüssel lässt diesen Browser bei ${origin} ohne Passwort ein (HOBA, RFC 7486). Er
      wird hier gemacht, verlässt den Browser nie, und niemand kann ihn lesen, auch diese Seite
      nicht.`,
    noScript: 'Den Schlüssel macht ein Skript, und dieser Browser führt keine aus.',
    make: 'Schlüssel machen',
    instead: 'Er tritt an die Stelle des Schlüssels, den dieser Browser hat.',
    name: 'Wie nennen Sie dieses Gerät?',
    lets: 'Konto',
    made: 'Gemacht',
    fingerprint: 'Fingerabdruck',
    visit: (url) => `${url} besuchen`,
    signOut: 'Abmelden',
    forget: 'Schlüssel vergessen',
    answer: 'Antwort',
    said: {
      done: 'Der Schlüssel ist gemacht und angemeldet. Unten steht sein Konto.',
      signedOut: 'Abgemeldet. Frühere Signaturen des Schlüssels gelten nicht mehr.',
      forgotten:
        'Dieser Browser hat den Schlüssel vergessen. Auf der Kontoseite steht er noch: Entfernen Sie ihn dort.',
      in: 'Angemeldet.',
      notIn: 'Nicht angemeldet',
      failed: 'Das ging nicht',
      noStore: 'Dieser Browser bewahrt keine Schlüssel auf',
      none: 'Dieser Browser hat hier keinen Schlüssel. Ein Link Ihrer Kontoseite lässt ihn einen machen.',
    },
  },
};
