/** Says that sessions of applications do not end with a person's sign-ins, since the applications are not notified. */
export const OWN_SESSIONS = 'Applications with a session of their own may go on until it ends.';
