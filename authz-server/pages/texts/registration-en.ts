export const registrationEn = {
  title: 'Create an account',
  problemTitle: 'Error: create an account',
  lead: 'Enter your e-mail address. We send you a link with which you choose a name and a password, or a passkey.',
  address: 'E-mail address',
  send: 'Send me a link',
  back: 'Back',
  sent: {
    title: 'Check your mailbox',
    text: 'A message is on its way. Its link works once, for 24 hours.',
    none: 'Nothing came? Look in your spam folder, and check the address.',
  },
  finish: {
    lead: (address: string) => `The account will belong to ${address}.`,
    leadOfFirst:
      'With this account you administer the server. In production you need a passkey for that, or a second factor in addition to the password.',
    nameHint:
      'You sign in with this name. Use letters from a to z and digits. A dot, _ or - may stand between them.',
    submit: 'Create the account',
    passkey: 'Create it with a passkey, without a password',
  },
  problems: {
    address: 'This is not an e-mail address. An address looks like alice@example.com.',
    later: 'Too many links were requested.',
    name: 'Choose a name of 2 to 64 letters from a to z and digits. A dot, _ or - may stand between them.',
    taken: 'This name is taken, or looks too much like a name that is taken. Choose another.',
  },
  done: {
    title: 'Your account is made',
    text: (name: string) => `Your name is ${name}. Go to your account and sign in.`,
  },
  gone: {
    title: 'This link does not work',
    text: 'A link works once, for at most 24 hours, and only the latest link works. If you already have an account, sign in. Otherwise request another link.',
    signIn: 'Go to the sign-in',
  },
};
