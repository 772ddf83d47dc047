/** Operations on clients, as administrators read them. */
export const clientOperationsEn = {
  'client add': {
    title: 'Register an application',
    text: 'An application or a machine gets an identifier, and a secret where it needs one, which is shown once.',
    done: 'The application is registered. A secret is shown only this once: keep it now.',
  },
  'client list': {
    title: 'All applications',
    text: 'The registered applications (clients of OAuth), by client_id.',
  },
  'client show': { title: 'One application', text: 'The settings of an application.' },
  'client access': {
    title: 'Grants of an application',
    text: 'The grants of people to the application. You can end each. Those that live longest come first.',
  },
  'client set': {
    title: 'Change an application',
    text: 'What you give replaces what was there. Fields that you leave empty stay as they are.',
    done: 'The application is changed.',
  },
  'client secret': {
    title: 'New secret for an application',
    text: 'The application gets a new secret, which is shown once. Its old one works on for as long as you say.',
    done: 'The application has a new secret. It is shown only this once: keep it now.',
  },
  'client end': {
    title: 'End all access of an application',
    text: 'All consents, grants and tokens of the application end at once. It stays registered; people who use it are asked again.',
    done: 'All access of the application is ended.',
  },
  'client remove': {
    title: 'Remove an application',
    text: 'The application is gone at once, and so are all of its grants and tokens. This cannot be undone.',
    done: 'The application is removed.',
  },
};
