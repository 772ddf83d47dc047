/** The titles of pages of operations on somebody or something that has a name. */
export const adminNamedDe = {
  'client show': (name: string) => name,
  'client access': (name: string) => `Zugriffe von ${name}`,
  'client set': (name: string) => `${name} ändern`,
  'client secret': (name: string) => `Neues Geheimnis für ${name}`,
  'client end': (name: string) => `Alle Zugriffe von ${name} beenden`,
  'client remove': (name: string) => `${name} entfernen`,
  'user show': (name: string) => name,
  'user access': (name: string) => `Anmeldungen und Zugriffe von ${name}`,
  'user set': (name: string) => `Das Profil von ${name} ändern`,
  'user invite': (name: string) => `${name} einladen`,
  'user passwd': (name: string) => `Neues Passwort für ${name}`,
  'user recover': (name: string) => `${name} wieder anmelden lassen`,
  'user kerberos': (name: string) => `Kerberos-Namen von ${name}`,
  'user disable': (name: string) => `${name} sperren`,
  'user enable': (name: string) => `${name} entsperren`,
  'user end': (name: string) => `Alles von ${name} beenden`,
  'user key add': (name: string) => `Einen Schlüssel von ${name} hinzufügen`,
  'user key list': (name: string) => `Schlüssel von ${name}`,
  'user key remove': (name: string) => `Einen Schlüssel von ${name} entfernen`,
  'user passkey list': (name: string) => `Passkeys von ${name}`,
  'user passkey remove': (name: string) => `Einen Passkey von ${name} entfernen`,
  'user second-factor': (name: string) => `Zweiter Faktor von ${name}`,
  'user second-factor-remove': (name: string) => `Den zweiten Faktor von ${name} entfernen`,
  'user remove': (name: string) => `${name} löschen`,
};

/** The words of pages that end one part of what a person, a client or the server has. */
export const adminPartsDe = {
  'client end grant': {
    title: (person: string, client: string) => `Den Zugriff beenden, den ${person} ${client} gab?`,
    text: 'Seine Tokens werden sofort abgelehnt; andere Personen behalten ihre.',
    submit: 'Diesen Zugriff beenden',
    done: 'Der Zugriff ist beendet.',
  },
  'user end grant': {
    title: (client: string, person: string) => `Den Zugriff beenden, den ${person} ${client} gab?`,
    text: 'Seine Tokens werden sofort abgelehnt; andere Zugriffe bleiben. Auch die Einwilligung bleibt: Die Anwendung bekommt vielleicht einen neuen, ohne zu fragen.',
    submit: 'Diesen Zugriff beenden',
    done: 'Der Zugriff ist beendet.',
  },
  'user end sign_in': {
    title: (browser: string, person: string) => `Die Anmeldung von ${person} beenden: ${browser}?`,
    text: 'Der Browser wird sofort abgemeldet, und die Zugriffe enden, die davon abhängen. Andere Anmeldungen bleiben.',
    submit: 'Diese Anmeldung beenden',
    done: 'Die Anmeldung ist beendet.',
  },
  'user end client': {
    title: (client: string, person: string) => `Alle Zugriffe von ${client} auf ${person} beenden?`,
    text: 'Ihre Einwilligung und alle ihre Zugriffe enden sofort, und sie fragt die Person neu. Andere Anwendungen behalten ihre.',
    submit: 'Diese Zugriffe beenden',
    done: 'Die Zugriffe sind beendet.',
  },
  'signing-keys rotate kid': {
    title: (kid: string) => `Den Signaturschlüssel ${kid} entfernen?`,
    text: 'Alle Tokens, die er unterschrieben hat, werden sofort abgelehnt, und ein neuer Schlüssel tritt an seine Stelle. Das lässt sich nicht rückgängig machen.',
    submit: 'Diesen Schlüssel entfernen',
    done: 'Der Signaturschlüssel ist entfernt.',
  },
};
