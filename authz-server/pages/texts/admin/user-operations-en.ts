/** Operations on people, as administrators read them. */
export const userOperationsEn = {
  'user set': {
    title: 'Change a profile',
    text: 'Applications read the profile of a person. Fields that you leave empty stay as they are. No session and no token ends.',
    done: 'The profile is changed.',
  },
  'user disable': {
    title: 'Disable a person',
    text: 'The person can no longer sign in. Their sessions, grants and tokens end at once.',
    done: 'The person is disabled.',
  },
  'user enable': {
    title: 'Enable a person',
    text: 'The person can sign in again. Sessions, grants and tokens that have ended stay ended.',
    done: 'The person is enabled.',
  },
  'user list': { title: 'All people', text: 'The people who can sign in here, by name.' },
  'user show': {
    title: 'One person',
    text: 'The profile of a person, and how many ways to sign in, sign-ins and grants they have.',
  },
  'user access': {
    title: 'Sign-ins and grants of a person',
    text: 'The browsers in which a person is signed in, and the applications that act for the person.',
  },
  'user add': {
    title: 'Add a person',
    text: 'The person can sign in with the password. If you enter none, this server makes a password and shows it once.',
    done: 'The person is added. If this server made the password, it is shown only this once: save it now.',
  },
  'user invite': {
    title: 'Invite a person',
    text: 'The person gets a link to set a password. Anyone who has the link can use it, once.',
    done: 'The invitation is made. Unless it was mailed, the link is shown only this once.',
  },
  'user passwd': {
    title: 'New password for a person',
    text: 'The old password stops working, and all sessions, grants and tokens of the person end. If you enter no new password, this server makes one and shows it once.',
    done: 'The person has a new password. If this server made it, it is shown only this once: save it now.',
  },
  'user recover': {
    title: 'Let a person sign in again',
    text: 'The person gets a link to set a new password. Anyone who has the link can use it, once.',
    done: 'The link is made. Unless it was mailed, it is shown only this once.',
  },
  'user kerberos': {
    title: 'Kerberos names of a person',
    text: 'The names that you enter replace the former names. Without a name, no Kerberos ticket signs the person in.',
    done: 'The Kerberos names are set.',
  },
  'user end': {
    title: 'End everything of a person',
    text: 'All sessions, grants and tokens of the person end at once. The person can sign in again.',
    done: 'Everything of the person has ended.',
  },
  'user key list': {
    title: 'Keys of people',
    text: 'The keys that sign people in without a password.',
  },
  'user key add': {
    title: 'Add a key of a person',
    text: 'The key signs the person in without a password, from now on.',
    done: 'The key is added.',
  },
  'user key remove': {
    title: 'Remove a key of a person',
    text: 'The next request with the key is refused. This cannot be undone.',
    done: 'The key is removed.',
  },
  'user passkey list': {
    title: 'Passkeys of people',
    text: 'The passkeys with which people sign in.',
  },
  'user passkey remove': {
    title: 'Remove a passkey of a person',
    text: 'The passkey no longer works. The sign-ins, grants and tokens that it opened end at once.',
    done: 'The passkey is removed.',
  },
  'user second-factor': {
    title: 'Second factor of a person',
    text: 'Whether a person has a second factor, and how many recovery codes are left.',
  },
  'user second-factor-remove': {
    title: 'Remove the second factor of a person',
    text: 'After that the password alone is enough to sign in. All of their sessions, grants and tokens end at once.',
    done: 'The second factor is removed.',
  },
  'user remove': {
    title: 'Erase a person',
    text: 'The person is erased at once, with all passwords, passkeys, keys, sessions and grants. This cannot be undone.',
    done: 'The person is erased.',
  },
};
