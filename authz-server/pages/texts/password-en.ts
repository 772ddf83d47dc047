import { ownSessionsEn } from './own-sessions.ts';

/** Texts of the pages that set, change and recover a password. */
export const passwordEn = {
  newPassword: {
    label: 'New password',
    hint: 'At least 8 characters. A few words that nobody else would put together are easy to remember.',
    problems: {
      wrong: 'The old password is wrong. Nothing was changed.',
      same: 'This is the password that you have already. Choose another.',
      later: 'There were too many attempts with a wrong password. Nothing was changed.',
      short: 'The new password is too short. Choose one of at least 8 characters.',
      long: 'The new password is too long. Choose one of at most 1,024 octets.',
      characters: 'The new password has a control character or a line end. Choose one without.',
      common:
        'The new password is one of the 10,000 commonest, which are guessed first. Choose another.',
    },
  },

  changePassword: {
    title: 'Change password',
    firstTitle: 'Set a password',
    problemTitle: (title: string) => `Error: ${title}`,
    lead: 'After this only the new password is good, everywhere.',
    current: 'Old password',
    endOthers: 'End everything else',
    endOthersText: `Every other browser is signed out, and all applications and devices lose their access. You stay signed in here. Passkeys and keys stay: remove them on your account page. ${ownSessionsEn}`,
    back: 'Change nothing',
  },

  forgotten: {
    title: 'Forgotten your password?',
    problemTitle: 'Error: forgotten your password?',
    lead: 'Enter the name with which you sign in. We send you a link for a new password, to the e-mail address that we know to be yours.',
    submit: 'Send me a link',
    back: 'Back',
    later: 'There were too many requests for a link.',
    sent: {
      title: 'Look into your mailbox',
      text: 'If there is an account of this name with a confirmed e-mail address, a message with a link is on its way. The link works once, for 15 minutes.',
      none: 'Nothing came? Look among the unwanted messages, check the name, or ask the people who run this service for a link.',
    },
  },

  recover: {
    purposes: {
      invitation: {
        title: 'Welcome: set your password',
        lead: 'You have an account here. With this name and the password that you choose now you sign in.',
      },
      recovery: {
        title: 'Set a new password',
        lead: `When you set it, the old password stops working, every browser is signed out, and all applications and devices lose their access. Passkeys and keys stay. ${ownSessionsEn}`,
      },
    },
    keepsSecondFactor: 'A second factor stays, too: its code is asked for afterwards.',
    secondFactor: 'Your second factor is removed as well: you can set up another one afterwards.',
    submit: 'Set this password',
    passkey: 'Make a passkey and have no password',
    done: {
      password: {
        title: 'Your password is set',
        purposes: {
          invitation: 'Go to your account and enter it there.',
          recovery:
            'Everything that was open here has ended. Go to your account and enter it there.',
        },
      },
      passkey: {
        title: 'Your passkey is made',
        purposes: {
          invitation: 'Go to your account and use it there.',
          recovery:
            'Everything that was open here has ended, and the old password works no more. Go to your account and use the passkey there.',
        },
      },
    },
    gone: {
      title: 'This link does not work',
      text: 'Such a link works once, for 15 minutes, or for 24 hours if it is an invitation by mail, and only the latest one does. Ask whoever sent it to you for another. If you have used it, sign in.',
      signIn: 'Go to the sign-in',
    },
  },
};
