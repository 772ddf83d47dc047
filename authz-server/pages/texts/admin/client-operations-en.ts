/** Operations on clients, as administrators read them. */
export const clientOperationsEn = {
  'client add': {
    title: 'Register a client',
    text: 'An application or a machine gets an identifier, and a secret where it needs one, which is shown once.',
    done: 'The client is registered. A secret is shown only this once: keep it now.',
  },
  'client list': { title: 'All clients', text: 'The registered clients, by client_id.' },
  'client show': { title: 'One client', text: 'The settings of a client.' },
  'client access': {
    title: 'Grants of a client',
    text: 'What people gave the client, each with the way to its end. Those that live longest come first.',
  },
  'client set': {
    title: 'Change a client',
    text: 'What you give replaces what was there. Fields that you leave empty stay as they are.',
    done: 'The client is changed.',
  },
  'client secret': {
    title: 'New secret for a client',
    text: 'The client gets a new secret, which is shown once. Its old one works on for as long as you say.',
    done: 'The client has a new secret. It is shown only this once: keep it now.',
  },
  'client end': {
    title: 'End all access of a client',
    text: 'All consents, grants and tokens of the client end at once. It stays registered; people who use it are asked again.',
    done: 'All access of the client is ended.',
  },
  'client remove': {
    title: 'Remove a client',
    text: 'The client is gone at once, and so are all of its grants and tokens. This cannot be undone.',
    done: 'The client is removed.',
  },
};
