/** Texts of the pages about accounts elsewhere. */
export const sourcesEn = {
  title: 'Accounts elsewhere',
  problemTitle: 'Error: accounts elsewhere',
  count: (count: number) => {
    if (count === 0) return 'No account elsewhere signs you in.';
    return count === 1
      ? 'One account elsewhere signs you in.'
      : `${count} accounts elsewhere sign you in.`;
  },
  change: 'Change accounts elsewhere',
  lead: 'You can sign in here with an account elsewhere, in place of your password.',
  origin: 'This account brought you here. You cannot unlink it.',
  notLinked: 'Not linked.',
  linkedSince: 'Linked since',
  link: 'Link',
  unlink: 'Unlink',
  back: 'Back to your account',
  done: {
    linked: 'The account is linked. You can sign in with it from now on.',
    unlinked: 'The account is unlinked. Browsers in which you signed in with it are signed out.',
  },
  problems: {
    late: 'Linking took too long, or was done already. Start again.',
    taken:
      'This account cannot be linked: it belongs to another person here, or you have linked one already.',
    last: 'This is your last way to sign in. Set a password or make a passkey first.',
    gone: 'This account is not linked any more.',
  },
  ask: {
    title: 'Link this account?',
    text: (label: string, source: string, name: string) =>
      `With the account ${label} at ${source} you will be able to sign in as ${name}.`,
    submit: 'Link the account',
    cancel: 'Do not link it',
  },
  failed: {
    title: 'You are not signed in',
    back: 'Back to sign-in',
    unknown: (source: string) =>
      `Your account at ${source} belongs to no account here. If you have an account here, sign in another way. Then link the two on your account page. Otherwise ask the people who run this server.`,
    address: (source: string) =>
      `${source} says that you have an address which another account here has confirmed. If that account is yours, sign in to it and link the two on your account page. Otherwise ask the people who run this server.`,
    disabled: () => 'Your account here is disabled. Ask the people who run this server.',
    late: () =>
      'The sign-in took too long, was done already, or began in another browser. Start again.',
    denied: (source: string) => `${source} did not sign you in, or you cancelled. Try again.`,
    unavailable: (source: string) =>
      `${source} does not answer. Try again in half a minute, or sign in another way.`,
    wrong: (source: string) =>
      `The answer of ${source} cannot be accepted. Sign in another way, and tell the people who run this server: the reason is in its log.`,
  },
};
