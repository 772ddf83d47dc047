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
      text: 'The application loses its access there at once. It may get it back without asking you, as long as you allow it elsewhere.',
      submit: 'End the access',
    },
    application: {
      title: 'End the access of this application?',
      text: `It loses its access everywhere at once, and asks you anew when you use it again. ${ownSessionsEn}`,
      submit: 'End the access',
    },
    key: {
      title: 'Remove this key?',
      text: 'It lets nobody in any more. You cannot undo this; you can make another.',
      submit: 'Remove the key',
    },
    passkey: {
      title: 'Remove this passkey?',
      text: 'It lets nobody in any more, and what it opened ends. You cannot undo this; you can make another.',
      submit: 'Remove the passkey',
    },
  },
  here: 'You read this in the browser that is signed out.',
  browsers: 'These browsers are signed out:',
  places: 'It has access in these browsers and on these devices:',
  applications: 'These applications lose the access that they got there:',
  keep: 'Leave it as it is',
};
