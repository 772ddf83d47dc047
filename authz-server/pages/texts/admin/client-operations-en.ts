/** Operations on clients, as administrators read them. */
export const clientOperationsEn = {
  'client add': {
    title: 'Register an application',
    text: 'An application or a machine gets an identifier. If it needs a secret, the secret is shown once.',
    done: 'The application is registered. A secret is shown only this once: save it now.',
  },
  'client list': {
    title: 'All applications',
    text: 'The registered applications (OAuth clients), by client_id.',
  },
  'client show': { title: 'One application', text: 'The settings of an application.' },
  'client access': {
    title: 'Grants of an application',
    text: 'The grants of people to the application. You can end each. The grants that last longest come first.',
  },
  'client set': {
    title: 'Change an application',
    text: 'Each value that you enter replaces the former value. Fields that you leave empty stay as they are.',
    done: 'The application is changed.',
  },
  'client secret': {
    title: 'New secret for an application',
    text: 'The application gets a new secret, which is shown once. You choose how long the old secret still works.',
    done: 'The application has a new secret. It is shown only this once: save it now.',
  },
  'client end': {
    title: 'End all access of an application',
    text: 'All consents, grants and tokens of the application end at once. The application stays registered. People who use it are asked for consent again.',
    done: 'All access of the application has ended.',
  },
  'client remove': {
    title: 'Remove an application',
    text: 'The application is removed at once, with all of its grants and tokens. This cannot be undone.',
    done: 'The application is removed.',
  },
};
