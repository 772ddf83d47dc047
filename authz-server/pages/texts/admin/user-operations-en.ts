/** Operations on people, as administrators read them. */
export const userOperationsEn = {
  'user set': {
    title: 'Change a profile',
    text: 'Applications read the profile of a person. Fields that you leave empty stay as they are. No session and no token ends.',
    done: 'The profile is changed.',
  },
  'user disable': {
    title: 'Disable a person',
    text: 'The person cannot come in any more. Their sessions, grants and tokens end at once.',
    done: 'The person is disabled.',
  },
  'user enable': {
    title: 'Enable a person',
    text: 'The person can come in again. What has ended stays ended.',
    done: 'The person is enabled.',
  },
  'user list': { title: 'All people', text: 'The people who can sign in here, by name.' },
  'user show': {
    title: 'One person',
    text: 'The profile of a person, and how many ways in, sign-ins and grants they have.',
  },
  'user access': {
    title: 'Sign-ins and grants of a person',
    text: 'Where a person is signed in, and which applications act for them.',
  },
  'user add': {
    title: 'Add a person',
    text: 'The person can sign in with the password. Without one we make it, and show it once.',
    done: 'The person is added. If a password was made, it is shown only this once: keep it now.',
  },
  'user invite': {
    title: 'Invite a person',
    text: 'The person gets no password, but a link with which they set one. Whoever has the link can use it, once.',
    done: 'The invitation is made. The link is shown only this once, unless it goes by mail.',
  },
  'user passwd': {
    title: 'New password for a person',
    text: 'The old password ends, and so do all sessions, grants and tokens of the person. Without a new one we make it, and show it once.',
    done: 'The person has a new password. If it was made, it is shown only this once: keep it now.',
  },
  'user recover': {
    title: 'Let a person in again',
    text: 'The person gets a link with which they set a new password. Whoever has the link can use it, once.',
    done: 'The link is made. It is shown only this once, unless it goes by mail.',
  },
  'user kerberos': {
    title: 'Kerberos names of a person',
    text: 'The names that you give take the place of those before. Without any, no ticket signs the person in.',
    done: 'The Kerberos names are set.',
  },
  'user end': {
    title: 'End everything of a person',
    text: 'All sessions, grants and tokens of the person end at once. The person can sign in again.',
    done: 'Everything of the person is ended.',
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
    text: 'The passkey works no more. The sign-ins, grants and tokens that it opened end at once.',
    done: 'The passkey is removed.',
  },
  'user second-factor': {
    title: 'Second factor of a person',
    text: 'Whether a person has a second factor, and how many recovery codes are left.',
  },
  'user second-factor-remove': {
    title: 'Remove the second factor of a person',
    text: 'A password alone lets the person in again. All of their sessions, grants and tokens end at once.',
    done: 'The second factor is removed.',
  },
  'user remove': {
    title: 'Erase a person',
    text: 'The person is gone at once, with all that lets them in. This cannot be undone.',
    done: 'The person is erased.',
  },
};
