import { type Html, html } from '#shared/pages/html.ts';

export const passkeysEn = {
  title: 'Passkeys',
  problemTitle: 'Error: passkeys',
  lead: 'With a passkey you sign in without a password. Your device keeps the passkey and asks for your fingerprint, your face or its PIN.',
  yours: 'Your passkeys',
  none: 'You have no passkey.',
  stay: 'A passkey works until you remove it, even if you change your password or end everything. If you lose a device, remove its passkey.',
  noPassword:
    'You have no password, so you sign in with your passkeys. Make a second passkey on another device, in case you lose one. You cannot sign in to programs that ask for a name and a password, such as network drives.',
  current: 'Used just now',
  copied: (when: Html) =>
    html`Refused ${when}: another person may have a copy of this passkey. Remove it and make a new
    passkey.`,
  rename: 'Rename',
  newName: 'New name',
  saveName: 'Save the name',
  remove: 'Remove',
  /** For those who do not see beside what the button stands. */
  whose: (name: string) => ` the passkey ${name}`,
  add: 'Make a passkey',
  addText: 'Give the passkey a name that you will recognize, such as the name of your phone.',
  name: 'Name of the passkey',
  make: 'Make a passkey',
  failed:
    'The browser made no passkey: you cancelled, it took too long, or this device already has a passkey for your account.',
  missing:
    'This browser does not support passkeys, or its scripts are off. Use another browser or device.',
  notHere:
    'Passkeys need an https address with a host name. This server has no such address, so you cannot make a passkey here.',
  back: 'Back to your account',
  done: {
    added: 'The passkey is made. Next time you can use it to sign in.',
    renamed: 'The passkey has its new name.',
    removed:
      'The passkey is removed. You are signed out in the browsers in which you signed in with it.',
  },
  problems: {
    name: 'Give the passkey a name of 1 to 100 visible characters.',
    'name-taken': 'You already have a passkey with this name. Choose another name.',
    failed: 'This passkey could not be checked. Try once more, or use another device.',
    late: 'This took longer than five minutes, or your browser sent the page twice. Try again.',
    taken: 'This passkey is already registered.',
    full: 'You have 20 passkeys, the maximum. Remove a passkey that you no longer use.',
    last: 'This is your last way to sign in, so you cannot remove it. First make another passkey, or set a password.',
    gone: 'This passkey was already removed.',
  },
};
