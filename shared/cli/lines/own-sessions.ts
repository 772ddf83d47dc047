/** Says what the end of all that somebody had opened does not reach: nobody tells these applications. */
export const OWN_SESSIONS = 'Applications with a session of their own may go on until it ends.';
