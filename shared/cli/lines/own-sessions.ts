/** Says that an application ends its own session only if the server can tell it of the end. */
export const OWN_SESSIONS =
  'Applications with a session of their own may go on until it ends, unless they have a logout URL.';
