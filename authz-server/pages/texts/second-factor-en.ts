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
      `Your password is right, ${name}. A code from an app of yours is needed, too. Set that up now; then you are signed in and go on.`,
    ends: `When it is set up, every other browser is signed out, and all applications and devices lose their access. ${ownSessionsEn}`,
    submit: 'Continue',
    again: 'Back to name and password',
    cancel: 'Cancel',
  },
  fields: {
    code: 'Code of six digits',
    recovery: 'Recovery code',
    recoveryInstead: 'Use a recovery code instead',
    recoveryHint: 'Ten letters and digits, such as 7K2QM-04XTE. Each works once.',
    scan: 'Open an app for one-time codes on your phone, and scan this picture with it.',
    picture: 'QR code with the secret',
    here: 'The app is on this device: open it',
    cannotScan: 'The app cannot scan the picture',
    type: 'Type this secret into the app:',
    confirm: 'Then enter the code that the app shows.',
    other: 'What lets in without a code',
    otherText:
      'A passkey or a key lets in whoever has it, without a code. Somebody else may have added one, before there was a second factor. Tick each that you do not know: it is removed with all that it opened.',
    ways: { passkey: 'passkey', key: 'key' },
    remove: (kind: string, name: string) => `Remove the ${kind} “${name}”`,
    made: (since: Html) => html`made ${since}`,
  },
  problems: {
    wrong: 'The code is wrong, too old, or was used before. Wait for the next one and try again.',
    recovery:
      'This recovery code is wrong or was used before. Compare it with your list, or use another one.',
    ways: 'A passkey or a key was added or removed meanwhile. Look at the list again, and enter the code once more.',
    later: 'There were too many wrong codes.',
  },
  codes: {
    title: 'Keep these recovery codes',
    lead: 'Your second factor is set up. Each of these codes lets you in once in place of a code of your app, if your phone is lost. Print them or keep them where you keep passwords. A reload of this page shows them once more for 30 seconds; after that nobody can.',
    renewed:
      'They take the place of your former ones, which no longer work. Each lets you in once in place of a code of your app, if your phone is lost. Print them or keep them where you keep passwords. A reload of this page shows them once more for 30 seconds; after that nobody can.',
    goOn: 'I have saved them: continue',
  },
  account: {
    lead: 'With a second factor a password alone does not let anybody in: a code from an app of yours is needed, too.',
    leadWithoutPassword:
      'You have no password: a passkey lets you in without a code. If you set a password later, a code from an app of yours is needed beside it.',
    ends: `When it is set up, every other browser is signed out, and all applications and devices lose their access. You stay signed in here. Passkeys and keys stay, and let in whoever has them. ${ownSessionsEn}`,
    schemes:
      'Programs that know only a password, such as some network drives, cannot let you in then.',
    setUp: 'Set it up',
    isSetUp: (since: Html) => html`Your second factor was set up ${since}.`,
    left: (count: number) =>
      count === 1 ? 'One recovery code is left.' : `${count} recovery codes are left.`,
    replaces:
      'The code of the new app shows that it works. Until then your present app stays good; from then on only the new one is, and you get new recovery codes.',
    setUpAnother: 'Change to this app',
    another: 'Set up another app',
    anotherText: 'For a new phone. The new app takes the place of the present one.',
    renew: 'Make new recovery codes',
    renewText: 'Your present recovery codes then stop working.',
    remove: 'Remove the second factor',
    removeText: 'Without it your password alone lets you in.',
    removeTextWithoutPassword: 'Without it a password that you set later lets you in alone.',
    required: 'It cannot be removed: this server demands one of you.',
    notices: {
      removed: 'The second factor is removed.',
      'codes-shown':
        'Your recovery codes were shown once, and cannot be shown again. If you have not kept them, make new ones here.',
    },
    back: 'Back to your account',
  },
};
