import { type Html, html } from '#shared/pages/html.ts';

export const passkeysEn = {
  title: 'Passkeys',
  problemTitle: 'Error: passkeys',
  lead: 'A passkey lets you in without a password. Your device keeps it and asks for your fingerprint, your face or its PIN.',
  yours: 'Your passkeys',
  none: 'You have no passkey.',
  stay: 'A passkey works until you remove it, also when you change your password or end everything. Remove that of a device that was lost.',
  noPassword:
    'You have no password, so your passkeys are your way in. Make a second one on another device, so that you get in if one is lost. Programs that ask for a name and a password, such as network drives, do not let you in.',
  current: 'Used just now',
  copied: (when: Html) =>
    html`Refused ${when}: somebody may have a copy of this passkey. Remove it and make a new one.`,
  rename: 'Rename',
  newName: 'New name',
  saveName: 'Save the name',
  remove: 'Remove',
  /** For those who do not see beside what the button stands. */
  whose: (name: string) => ` the passkey ${name}`,
  add: 'Make a passkey',
  addText: 'Give it a name by which you know it again, such as that of your phone.',
  name: 'Name of the passkey',
  make: 'Make a passkey',
  failed:
    'The browser made no passkey: it was cancelled, took too long, or this device has one already.',
  missing: 'This browser knows no passkeys, or its scripts are off. Use another browser or device.',
  notHere:
    'Passkeys need an address with https and a name. This server has none, so nobody can make one.',
  back: 'Back to your account',
  done: {
    added: 'The passkey is made. Next time you can use it to come in.',
    renamed: 'The passkey has its new name.',
    removed: 'The passkey is removed. Where it was used to come in, you are signed out.',
  },
  problems: {
    name: 'Give the passkey a name of 1 to 100 visible characters.',
    'name-taken': 'You have a passkey of this name. Choose another name.',
    failed: 'This passkey could not be checked. Try once more, or use another device.',
    late: 'That took longer than five minutes, or the page was sent twice. Try once more.',
    taken: 'This passkey is here already.',
    full: 'You have 20 passkeys, which is the most. Remove one that you do not use any more.',
    last: 'This is your last way to come in, so it stays. Make another passkey first, or set a password.',
    gone: 'This passkey is not here any more.',
  },
};
