import { ownSessionsEn } from './own-sessions.ts';

/** Texts of the pages that set, change and recover a password. */
export const passwordEn = {
  newPassword: {
    label: 'New password',
    hint: 'At least 8 characters. A few unrelated words are easy to remember.',
    problems: {
      wrong: 'The old password is wrong. Nothing was changed.',
      same: 'This is the password that you have already. Choose another.',
      later: 'There were too many attempts with a wrong password. Nothing was changed.',
      short: 'The new password is too short. Choose one of at least 8 characters.',
      long: 'The new password is too long. Choose one of at most 1,024 octets.',
      characters:
        'The new password has a control character or a line break. Choose a password without them.',
      common:
        'The new password is one of the 10,000 most common passwords, which attackers try first. Choose another.',
    },
  },

  changePassword: {
    title: 'Change password',
    firstTitle: 'Set a password',
    problemTitle: (title: string) => `Error: ${title}`,
    lead: 'After this only the new password works, everywhere.',
    current: 'Old password',
    endOthers: 'End everything else',
    endOthersText: `Every other browser is signed out, and all applications and devices lose their access. You stay signed in here. Passkeys and keys stay: remove them on your account page. ${ownSessionsEn}`,
    back: 'Change nothing',
  },

  forgotten: {
    title: 'Forgotten your password?',
    problemTitle: 'Error: forgotten your password?',
    lead: 'Enter the name with which you sign in. We send a link for a new password to your confirmed e-mail address.',
    submit: 'Send me a link',
    back: 'Back',
    later: 'There were too many requests for a link.',
    sent: {
      title: 'Check your mailbox',
      text: 'If an account has this name and a confirmed e-mail address, a message with a link is on its way. The link works once, for 15 minutes.',
      none: 'Nothing came? Look in your spam folder, check the name, or ask the people who run this service for a link.',
    },
  },

  recover: {
    purposes: {
      invitation: {
        title: 'Welcome: set your password',
        lead: 'You have an account here. You sign in with this name and the password that you choose now.',
      },
      recovery: {
        title: 'Set a new password',
        lead: `When you set it, the old password stops working, every browser is signed out, and all applications and devices lose their access. Passkeys and keys stay. ${ownSessionsEn}`,
      },
    },
    keepsSecondFactor: 'Your second factor stays, too: you enter its code afterwards.',
    secondFactor: 'Your second factor is removed as well: you can set up another one afterwards.',
    submit: 'Set this password',
    passkey: 'Make a passkey instead of a password',
    done: {
      password: {
        title: 'Your password is set',
        purposes: {
          invitation: 'Go to your account and enter the password there.',
          recovery:
            'All earlier sign-ins and access have ended. Go to your account and enter the new password there.',
        },
      },
      passkey: {
        title: 'Your passkey is made',
        purposes: {
          invitation: 'Go to your account and use the passkey there.',
          recovery:
            'All earlier sign-ins and access have ended, and the old password no longer works. Go to your account and use the passkey there.',
        },
      },
    },
    gone: {
      title: 'This link does not work',
      text: 'A link works once, for 15 minutes; an invitation by mail works for 24 hours. Only the latest link works. Ask the sender for another link. If you have already used this link, sign in.',
      signIn: 'Go to the sign-in',
    },
  },
};
