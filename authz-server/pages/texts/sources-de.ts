import type { sourcesEn } from './sources-en.ts';

export const sourcesDe: typeof sourcesEn = {
  title: 'Konten anderswo',
  problemTitle: 'Fehler: Konten anderswo',
  count: (count) => {
    if (count === 0) return 'Kein Konto anderswo meldet Sie an.';
    return count === 1
      ? 'Ein Konto anderswo meldet Sie an.'
      : `${count} Konten anderswo melden Sie an.`;
  },
  change: 'Konten anderswo ändern',
  lead: 'Sie können sich hier mit einem Konto anderswo anmelden, statt mit Ihrem Passwort.',
  origin: 'Dieses Konto hat Sie hierher gebracht. Sie können es nicht trennen.',
  notLinked: 'Nicht verbunden.',
  linkedSince: 'Verbunden seit',
  link: 'Verbinden',
  unlink: 'Trennen',
  back: 'Zurück zu Ihrem Konto',
  done: {
    linked: 'Das Konto ist verbunden. Sie können sich ab jetzt damit anmelden.',
    unlinked:
      'Das Konto ist getrennt. Browser, in denen Sie damit angemeldet waren, sind abgemeldet.',
  },
  problems: {
    late: 'Das Verbinden hat zu lange gedauert oder ist schon geschehen. Beginnen Sie neu.',
    taken:
      'Dieses Konto lässt sich nicht verbinden: Es gehört hier einer anderen Person, oder Sie haben schon eines verbunden.',
    last: 'Das ist Ihr letzter Weg, sich anzumelden. Setzen Sie zuerst ein Passwort, oder erstellen Sie einen Passkey.',
    gone: 'Dieses Konto ist nicht mehr verbunden.',
  },
  ask: {
    title: 'Dieses Konto verbinden?',
    text: (label, source, name) =>
      `Mit dem Konto ${label} bei ${source} können Sie sich dann als ${name} anmelden.`,
    submit: 'Das Konto verbinden',
    cancel: 'Nicht verbinden',
  },
  failed: {
    title: 'Sie sind nicht angemeldet',
    back: 'Zurück zur Anmeldung',
    unknown: (source) =>
      `Ihr Konto bei ${source} gehört zu keinem Konto hier. Wenn Sie hier ein Konto haben, melden Sie sich anders an. Verbinden Sie dann beide auf Ihrer Kontoseite. Sonst fragen Sie die Betreiber dieses Servers.`,
    address: (source) =>
      `${source} nennt eine Adresse von Ihnen, die ein anderes Konto hier bestätigt hat. Wenn es Ihres ist, melden Sie sich dort an, und verbinden Sie beide auf Ihrer Kontoseite. Sonst fragen Sie die Betreiber dieses Servers.`,
    disabled: () => 'Ihr Konto hier ist gesperrt. Fragen Sie die Betreiber dieses Servers.',
    late: () =>
      'Die Anmeldung hat zu lange gedauert, ist schon geschehen, oder begann in einem anderen Browser. Beginnen Sie neu.',
    denied: (source) =>
      `${source} hat Sie nicht angemeldet, oder Sie haben abgebrochen. Versuchen Sie es noch einmal.`,
    unavailable: (source) =>
      `${source} antwortet nicht. Versuchen Sie es in einer halben Minute wieder, oder melden Sie sich anders an.`,
    wrong: (source) =>
      `Die Antwort von ${source} ist nicht annehmbar. Melden Sie sich anders an, und sagen Sie es den Betreibern dieses Servers: Der Grund steht in seinem Protokoll.`,
  },
};
