/** The titles of pages of operations on somebody or something that has a name. */
export const adminNamedEn = {
  'client show': (name: string) => name,
  'client access': (name: string) => `Grants of ${name}`,
  'client set': (name: string) => `Change ${name}`,
  'client secret': (name: string) => `New secret for ${name}`,
  'client end': (name: string) => `End all access of ${name}`,
  'client remove': (name: string) => `Remove ${name}`,
  'user show': (name: string) => name,
  'user access': (name: string) => `Sign-ins and grants of ${name}`,
  'user set': (name: string) => `Change the profile of ${name}`,
  'user invite': (name: string) => `Invite ${name}`,
  'user passwd': (name: string) => `New password for ${name}`,
  'user recover': (name: string) => `Let ${name} sign in again`,
  'user kerberos': (name: string) => `Kerberos names of ${name}`,
  'user disable': (name: string) => `Disable ${name}`,
  'user enable': (name: string) => `Enable ${name}`,
  'user end': (name: string) => `End everything of ${name}`,
  'user key add': (name: string) => `Add a key of ${name}`,
  'user key list': (name: string) => `Keys of ${name}`,
  'user key remove': (name: string) => `Remove a key of ${name}`,
  'user passkey list': (name: string) => `Passkeys of ${name}`,
  'user passkey remove': (name: string) => `Remove a passkey of ${name}`,
  'user second-factor': (name: string) => `Second factor of ${name}`,
  'user second-factor-remove': (name: string) => `Remove the second factor of ${name}`,
  'user remove': (name: string) => `Erase ${name}`,
};

/** The words of pages that end one part of what a person, a client or the server has. */
export const adminPartsEn = {
  'client end grant': {
    title: (person: string, client: string) => `End the grant of ${person} to ${client}?`,
    text: 'The tokens of this grant are refused at once. Grants of other people stay.',
    submit: 'End this grant',
    done: 'The grant has ended.',
  },
  'user end grant': {
    title: (client: string, person: string) => `End the grant of ${person} to ${client}?`,
    text: 'The tokens of this grant are refused at once. Other grants stay. The consent stays, too: the application may get another grant without asking the person.',
    submit: 'End this grant',
    done: 'The grant has ended.',
  },
  'user end sign_in': {
    title: (browser: string, person: string) => `End the sign-in of ${person} in ${browser}?`,
    text: 'The browser is signed out at once, and the grants that depend on it end. Other sign-ins stay.',
    submit: 'End this sign-in',
    done: 'The sign-in has ended.',
  },
  'user end client': {
    title: (client: string, person: string) => `End all access of ${client} for ${person}?`,
    text: 'The consent for this application and all of its grants end at once. The application has to ask the person again. Other applications keep their access.',
    submit: 'End this access',
    done: 'The access has ended.',
  },
  'signing-keys rotate kid': {
    title: (kid: string) => `Remove the signing key ${kid}?`,
    text: 'All tokens that this key signed are refused at once, and a new key replaces it. This cannot be undone.',
    submit: 'Remove this key',
    done: 'The signing key is removed.',
  },
};
