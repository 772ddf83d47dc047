import type { passwordEn } from './password-en.ts';
import { ownSessionsDe } from './own-sessions.ts';

export const passwordDe: typeof passwordEn = {
  newPassword: {
    label: 'Neues Passwort',
    hint: 'Mindestens 8 Zeichen. Ein paar Wörter, die sonst niemand zusammenstellen würde, merkt man sich leicht.',
    problems: {
      wrong: 'Das alte Passwort ist falsch. Es wurde nichts geändert.',
      same: 'Dieses Passwort haben Sie schon. Wählen Sie ein anderes.',
      later: 'Es gab zu viele Versuche mit einem falschen Passwort. Es wurde nichts geändert.',
      short: 'Das neue Passwort ist zu kurz. Wählen Sie eines mit mindestens 8 Zeichen.',
      long: 'Das neue Passwort ist zu lang. Wählen Sie eines mit höchstens 1.024 Oktetten.',
      characters:
        'Das neue Passwort enthält ein Steuerzeichen oder ein Zeilenende. Wählen Sie eines ohne.',
      common:
        'Das neue Passwort ist eines der 10.000 häufigsten, die zuerst erraten werden. Wählen Sie ein anderes.',
    },
  },

  changePassword: {
    title: 'Passwort ändern',
    firstTitle: 'Ein Passwort setzen',
    problemTitle: (title) => `Fehler: ${title}`,
    lead: 'Danach gilt überall nur noch das neue Passwort.',
    current: 'Altes Passwort',
    endOthers: 'Alles andere beenden',
    endOthersText: `Jeder andere Browser wird abgemeldet, und alle Anwendungen und Geräte verlieren ihren Zugriff. Hier bleiben Sie angemeldet. Passkeys und Schlüssel bleiben: Entfernen Sie sie auf Ihrer Kontoseite. ${ownSessionsDe}`,
    back: 'Nichts ändern',
  },

  forgotten: {
    title: 'Passwort vergessen?',
    problemTitle: 'Fehler: Passwort vergessen?',
    lead: 'Geben Sie den Namen ein, mit dem Sie sich anmelden. Wir schicken Ihnen einen Link für ein neues Passwort, an die E-Mail-Adresse, von der wir wissen, dass sie Ihnen gehört.',
    submit: 'Link schicken',
    back: 'Zurück',
    later: 'Es wurde zu oft um einen Link gebeten.',
    sent: {
      title: 'Sehen Sie in Ihr Postfach',
      text: 'Wenn es ein Konto mit diesem Namen und einer bestätigten E-Mail-Adresse gibt, ist eine Nachricht mit einem Link unterwegs. Der Link gilt einmal und 15 Minuten lang.',
      none: 'Es kam nichts? Sehen Sie bei den unerwünschten Nachrichten nach, prüfen Sie den Namen, oder bitten Sie die Betreiber dieses Dienstes um einen Link.',
    },
  },

  recover: {
    purposes: {
      invitation: {
        title: 'Willkommen: Setzen Sie Ihr Passwort',
        lead: 'Sie haben hier ein Konto. Mit diesem Namen und dem Passwort, das Sie jetzt wählen, melden Sie sich an.',
      },
      recovery: {
        title: 'Ein neues Passwort setzen',
        lead: `Sobald Sie es setzen, gilt das alte Passwort nicht mehr, jeder Browser wird abgemeldet, und alle Anwendungen und Geräte verlieren ihren Zugriff. Passkeys und Schlüssel bleiben. ${ownSessionsDe}`,
      },
    },
    keepsSecondFactor: 'Auch ein zweiter Faktor bleibt: Sein Code wird danach verlangt.',
    secondFactor:
      'Auch Ihr zweiter Faktor wird entfernt: Sie können danach einen neuen einrichten.',
    submit: 'Dieses Passwort setzen',
    passkey: 'Passkey erzeugen und kein Passwort haben',
    done: {
      password: {
        title: 'Ihr Passwort ist gesetzt',
        purposes: {
          invitation: 'Gehen Sie zu Ihrem Konto und geben Sie es dort ein.',
          recovery:
            'Alles, was hier offen war, ist beendet. Gehen Sie zu Ihrem Konto und geben Sie das Passwort dort ein.',
        },
      },
      passkey: {
        title: 'Ihr Passkey ist erzeugt',
        purposes: {
          invitation: 'Gehen Sie zu Ihrem Konto und benutzen Sie ihn dort.',
          recovery:
            'Alles, was hier offen war, ist beendet, und das alte Passwort gilt nicht mehr. Gehen Sie zu Ihrem Konto und benutzen Sie den Passkey dort.',
        },
      },
    },
    gone: {
      title: 'Dieser Link funktioniert nicht',
      text: 'Ein solcher Link gilt einmal, 15 Minuten lang, als Einladung per E-Mail 24 Stunden lang, und nur der neueste. Bitten Sie, wer ihn Ihnen geschickt hat, um einen neuen. Haben Sie ihn schon benutzt, dann melden Sie sich an.',
      signIn: 'Zur Anmeldung',
    },
  },
};
