/** The texts of the pages. All languages have the same members. */
interface Texts {
  /** For a client that accepts pages and may not be a browser. */
  readonly needed: Said;
  /** A form was submitted without a session. */
  readonly notTaken: Said;
  /** A person is signed in, and the request needs a stronger or more recent sign-in: for a reader, and for a form. */
  readonly again: Said;
  readonly notEnough: Said;
  /** The authorization server could not perform the sign-in that a request needs. */
  readonly unmet: Said;
  /** A person has just signed in, but the browser does not send the session's cookie. */
  readonly notKept: Said;
  /** A callback that belongs to no sign-in of this browser. */
  readonly notBegun: Said;
  readonly refused: Said;
  readonly unavailable: Said;
  readonly forbidden: Said & { readonly as: (name: string) => string };
  readonly signOut: Said;
  readonly signedOut: Said & { readonly everywhere: string };
}

interface Said {
  readonly title: string;
  readonly text: string;
  /** The label of the link to continue. */
  readonly on: string;
}

const en: Texts = {
  needed: {
    title: 'Sign in first',
    text: 'This address is for people who have signed in. A program can send credentials instead: the field WWW-Authenticate names the schemes.',
    on: 'Sign in',
  },
  notTaken: {
    title: 'You are no longer signed in',
    text: 'The server did not accept what you have just sent. Sign in in another tab. Then reload this tab, so that your browser sends it again.',
    on: 'Sign in in another tab',
  },
  again: {
    title: 'Sign in again',
    text: 'This address needs a stronger or more recent sign-in than yours. A program can send other credentials instead: the field WWW-Authenticate names the schemes.',
    on: 'Sign in again',
  },
  notEnough: {
    title: 'Sign in again for this',
    text: 'The server did not accept what you have just sent: it needs a stronger or more recent sign-in. Sign in again in another tab. Then reload this tab, so that your browser sends it again.',
    on: 'Sign in in another tab',
  },
  unmet: {
    title: 'Your way of signing in is not enough',
    text: 'This address needs a stronger way to sign in, such as a passkey. Your account has none, or you did not use it. Set it up on your account page, then try again.',
    on: 'Try again',
  },
  notKept: {
    title: 'Your sign-in was not kept',
    text: 'You have just signed in, but your browser does not send the cookie of this site. Allow cookies for this site. If they are already allowed, tell the people who run this site: their proxy may not pass the cookie on.',
    on: 'Try again',
  },
  notBegun: {
    title: 'This sign-in cannot continue',
    text: 'The sign-in is already complete, took too long, or began in another browser. If this happens each time, your browser blocks the cookies of this site.',
    on: 'Go to the application',
  },
  refused: {
    title: 'You are not signed in',
    text: 'The sign-in was cancelled.',
    on: 'Try again',
  },
  unavailable: {
    title: 'Signing in is not possible now',
    text: 'The server that signs you in does not answer as it should. Try again in a moment.',
    on: 'Try again',
  },
  forbidden: {
    title: 'You have no access',
    text: 'The people who run this application have not given you access. Ask them, or sign out and sign in with another account.',
    on: 'Sign out',
    as: (name) => `You are signed in as ${name}.`,
  },
  signOut: {
    title: 'Sign out?',
    text: 'This signs you out of this application in this browser.',
    on: 'Sign out',
  },
  signedOut: {
    title: 'You are signed out',
    text: 'You are signed out of this application. You are still signed in at the server where you signed in, so the application will not ask for your password. On a shared computer, sign out there as well.',
    on: 'Back to the application',
    everywhere: 'Sign out everywhere',
  },
};

const de: Texts = {
  needed: {
    title: 'Melden Sie sich erst an',
    text: 'Diese Adresse ist für Menschen, die angemeldet sind. Ein Programm kann stattdessen Zugangsdaten senden: Das Feld WWW-Authenticate sagt, welche.',
    on: 'Anmelden',
  },
  notTaken: {
    title: 'Sie sind nicht mehr angemeldet',
    text: 'Was Sie gerade abgeschickt haben, wurde nicht angenommen. Melden Sie sich in einem anderen Tab an, kommen Sie zurück und laden Sie diesen Tab neu: Ihr Browser schickt es noch einmal.',
    on: 'In einem anderen Tab anmelden',
  },
  again: {
    title: 'Melden Sie sich noch einmal an',
    text: 'Diese Adresse verlangt eine stärkere oder neuere Anmeldung als Ihre. Ein Programm kann stattdessen andere Zugangsdaten senden: Das Feld WWW-Authenticate sagt, welche.',
    on: 'Noch einmal anmelden',
  },
  notEnough: {
    title: 'Melden Sie sich dafür noch einmal an',
    text: 'Was Sie gerade abgeschickt haben, wurde nicht angenommen: Es verlangt eine stärkere oder neuere Anmeldung. Melden Sie sich in einem anderen Tab noch einmal an, kommen Sie zurück und laden Sie diesen Tab neu: Ihr Browser schickt es noch einmal.',
    on: 'In einem anderen Tab anmelden',
  },
  unmet: {
    title: 'Ihre Art der Anmeldung genügt nicht',
    text: 'Hier ist eine stärkere Anmeldung nötig, etwa mit einem Passkey. Ihr Konto hat keine, oder Sie haben sie nicht benutzt. Richten Sie eine auf Ihrer Kontoseite ein und versuchen Sie es noch einmal.',
    on: 'Noch einmal versuchen',
  },
  notKept: {
    title: 'Ihre Anmeldung blieb nicht erhalten',
    text: 'Sie haben sich gerade angemeldet, aber Ihr Browser schickt das Cookie dieser Website nicht mit. Erlauben Sie Cookies für diese Website. Sind sie schon erlaubt, sagen Sie es den Betreibern: Vielleicht gibt deren Proxy das Cookie nicht weiter.',
    on: 'Noch einmal versuchen',
  },
  notBegun: {
    title: 'Diese Anmeldung kann nicht weitergehen',
    text: 'Sie ist schon vorbei, hat zu lange gedauert oder begann in einem anderen Browser. Geschieht es jedes Mal, blockiert Ihr Browser die Cookies dieser Website.',
    on: 'Zur Anwendung',
  },
  refused: {
    title: 'Sie sind nicht angemeldet',
    text: 'Die Anmeldung wurde abgebrochen.',
    on: 'Noch einmal versuchen',
  },
  unavailable: {
    title: 'Anmelden ist gerade nicht möglich',
    text: 'Der Server, der Sie anmeldet, antwortet nicht, wie er soll. Versuchen Sie es gleich noch einmal.',
    on: 'Noch einmal versuchen',
  },
  forbidden: {
    title: 'Kein Zutritt',
    text: 'Der Betreiber hat diese Anwendung nicht für Sie geöffnet. Fragen Sie ihn, oder melden Sie sich ab und als jemand anderes wieder an.',
    on: 'Abmelden',
    as: (name) => `Sie sind als ${name} angemeldet.`,
  },
  signOut: {
    title: 'Abmelden?',
    text: 'Sie sind dann in diesem Browser von dieser Anwendung abgemeldet.',
    on: 'Abmelden',
  },
  signedOut: {
    title: 'Sie sind abgemeldet',
    text: 'Sie sind von dieser Anwendung abgemeldet. Dort, wo Sie sich angemeldet haben, sind Sie es noch, und die Anwendung wird Sie ohne Passwort wiedererkennen. An einem Computer, den auch andere benutzen, melden Sie sich auch dort ab.',
    on: 'Zurück zur Anwendung',
    everywhere: 'Überall abmelden',
  },
};

export const TEXTS = { en, de } as const;
export type Language = keyof typeof TEXTS;
/** The pages with one message and a link to continue. */
export type Message = Exclude<keyof Texts, 'forbidden' | 'signOut' | 'signedOut'>;
