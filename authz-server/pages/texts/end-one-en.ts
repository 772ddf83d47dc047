import { ownSessionsEn } from './own-sessions.ts';

/** Texts of the pages that ask before something is ended or removed. */
export const endOneEn = {
  kinds: {
    'sign-in': {
      title: 'End this sign-in?',
      text: `The browser is signed out at once. ${ownSessionsEn}`,
      submit: 'End the sign-in',
    },
    access: {
      title: 'End this access?',
      text: 'The application loses this access at once. It may get access again without asking you, as long as you allow it in another browser or on another device.',
      submit: 'End the access',
    },
    application: {
      title: 'End the access of this application?',
      text: `The application loses all its access at once. It asks you again the next time you use it. ${ownSessionsEn}`,
      submit: 'End the access',
    },
    key: {
      title: 'Remove this key?',
      text: 'The key stops working at once. You cannot undo this, but you can make another key.',
      submit: 'Remove the key',
    },
    passkey: {
      title: 'Remove this passkey?',
      text: 'The passkey stops working, and all sign-ins and access that it opened end. You cannot undo this, but you can make another passkey.',
      submit: 'Remove the passkey',
    },
  },
  here: 'You are reading this in the browser that will be signed out.',
  browsers: 'These browsers are signed out:',
  places: 'It has access in these browsers and on these devices:',
  applications: 'These applications lose the access that they have through this sign-in:',
  keep: 'Leave it as it is',
};
