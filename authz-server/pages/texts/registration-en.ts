export const registrationEn = {
  title: 'Create an account',
  problemTitle: 'Error: create an account',
  lead: 'Enter your e-mail address. We send you a link with which you choose a name and a password, or a passkey.',
  address: 'E-mail address',
  send: 'Send me a link',
  back: 'Back',
  sent: {
    title: 'Look into your mailbox',
    text: 'A message is on its way. Its link works once, for 24 hours.',
    none: 'Nothing came? Look among the unwanted messages, and check the address.',
  },
  finish: {
    lead: (address: string) => `The account will belong to ${address}.`,
    leadOfFirst:
      'With this account you administer the server. Administration asks for a passkey, or for a second factor beside the password.',
    administrator: 'administrator',
    nameHint:
      'You sign in with it. Letters from a to z and digits; a dot, _ or - may stand between them.',
    submit: 'Create the account',
    passkey: 'Create it with a passkey, without a password',
  },
  problems: {
    address: 'This is no e-mail address. One looks like alice@example.com.',
    later: 'Too many links were asked for.',
    name: 'Choose a name of 2 to 64 letters from a to z and digits. A dot, _ or - may stand between them.',
    taken: 'This name is taken, or looks like one that is. Choose another.',
  },
  done: {
    title: 'Your account is made',
    text: (name: string) => `Your name is ${name}. Go to your account and sign in.`,
  },
  gone: {
    title: 'This link does not work',
    text: 'Such a link works once, for 24 hours at most, and only the latest one does. If you have an account already, sign in; else ask for another link.',
    signIn: 'Go to the sign-in',
  },
};
