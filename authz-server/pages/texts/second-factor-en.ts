import { type Html, html } from '#shared/pages/html.ts';
import { ownSessionsEn } from './own-sessions.ts';

/** A code beside the password. */
export const secondFactorEn = {
  title: 'Second factor',
  step: {
    title: 'Enter your code',
    problemTitle: 'Error: enter your code',
    lead: (name: string) =>
      `Your password is right, ${name}. Now enter the code that your app shows for this account.`,
    setUpTitle: 'Set up a second factor',
    setUpLead: (name: string) =>
      `Your password is right, ${name}. You also need a code from an app. Set up the app now; after that you are signed in.`,
    ends: `When it is set up, every other browser is signed out, and all applications and devices lose their access. ${ownSessionsEn}`,
    submit: 'Continue',
    again: 'Back to name and password',
    cancel: 'Cancel',
  },
  fields: {
    code: 'Code of six digits',
    recovery: 'Recovery code',
    recoveryInstead: 'Use a recovery code instead',
    recoveryHint: 'Ten letters and digits, such as 7K2QM-04XTE. Each code works once.',
    scan: 'Open an app for one-time codes on your phone, and scan this picture with it.',
    picture: 'QR code with the secret',
    here: 'The app is on this device: open it',
    cannotScan: 'The app cannot scan the picture',
    type: 'Type this secret into the app:',
    confirm: 'Then enter the code that the app shows.',
    other: 'Ways to sign in without a code',
    otherText:
      'With a passkey or a key you sign in without a code. Before you had a second factor, another person may have added one. Tick each that you do not recognize: it is removed, and all access that it opened ends.',
    ways: { passkey: 'passkey', key: 'key' },
    remove: (kind: string, name: string) => `Remove the ${kind} “${name}”`,
    made: (since: Html) => html`made ${since}`,
  },
  problems: {
    wrong: 'The code is wrong, too old, or was used before. Wait for the next code and try again.',
    recovery:
      'This recovery code is wrong or was used before. Compare it with your list, or use another code.',
    ways: 'A passkey or a key was added or removed meanwhile. Look at the list again, and enter the code once more.',
    later: 'There were too many wrong codes.',
  },
  codes: {
    title: 'Keep these recovery codes',
    lead: 'Your second factor is set up. If you lose your phone, each of these codes replaces a code of your app once. Print the codes, or keep them where you keep passwords. For 30 seconds you can reload this page to see the codes again. After that, this server cannot show them.',
    renewed:
      'These codes replace your former codes, which no longer work. If you lose your phone, each code replaces a code of your app once. Print the codes, or keep them where you keep passwords. For 30 seconds you can reload this page to see the codes again. After that, this server cannot show them.',
    goOn: 'I have saved them: continue',
  },
  account: {
    lead: 'With a second factor, the password alone is not enough: you also need a code from an app.',
    leadWithoutPassword:
      'You have no password: with a passkey you sign in without a code. If you set a password later, you also need a code from an app.',
    ends: `When it is set up, every other browser is signed out, and all applications and devices lose their access. You stay signed in here. Passkeys and keys stay: with them you sign in without a code. ${ownSessionsEn}`,
    schemes:
      'After that you cannot sign in to programs that know only a password, such as some network drives.',
    setUp: 'Set it up',
    isSetUp: (since: Html) => html`Your second factor was set up ${since}.`,
    left: (count: number) =>
      count === 1 ? 'One recovery code is left.' : `${count} recovery codes are left.`,
    replaces:
      'Your present app works until you enter a code of the new app. After that only the new app works, and you get new recovery codes.',
    setUpAnother: 'Change to this app',
    another: 'Set up another app',
    anotherText: 'Use this for a new phone. The new app replaces the present app.',
    renew: 'Make new recovery codes',
    renewText: 'Your present recovery codes then stop working.',
    remove: 'Remove the second factor',
    removeText: 'After that your password alone is enough to sign in.',
    removeTextWithoutPassword:
      'If you set a password later, that password alone is enough to sign in.',
    required: 'You cannot remove the second factor: this server requires it.',
    notices: {
      removed: 'The second factor is removed.',
      'codes-shown':
        'Your recovery codes were shown once, and cannot be shown again. If you did not save the codes, make new codes here.',
    },
    back: 'Back to your account',
  },
};
