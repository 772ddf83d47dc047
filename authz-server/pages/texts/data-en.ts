import { html, strong } from '#shared/pages/html.ts';

/** Texts of the pages about the data of a person, and about the end of their account. */
export const dataEn = {
  title: 'Your data',
  section: 'See what this server keeps about you.',
  link: 'Open the page about your data',
  lead: 'The file has everything that this server keeps about you: your profile, your ways to sign in, your sign-ins, the access of applications, waiting messages, and what happened in your account. It has no passwords and no other secrets.',
  format: 'The file is in JSON, which programs can read.',
  download: 'Download the file',
  documents:
    'Documents that you keep at this service are not in the file. Their addresses are. Applications keep data of their own: ask each of them.',
  removal: 'Delete your account',
  removalText: 'You can delete your account with all these data.',
  back: 'Back to your account',
  remove: {
    title: 'Delete your account?',
    problemTitle: 'Error: delete your account?',
    account: (name: string) => html`This is the account ${strong(name)}.`,
    text: 'The server deletes your profile, your ways to sign in and the documents that only you can open. You are signed out everywhere, and every application and device loses its access. You cannot undo this.',
    stays:
      'The log of the server keeps what happened, with your identifier instead of your name. Backups that the operator has made keep your data until they are deleted. Applications keep data of their own: ask each of them.',
    applications: 'These applications lose their access:',
    more: 'This list is not complete.',
    file: 'Download your data first',
    submit: 'Delete the account',
    keep: 'Keep the account',
    problems: {
      last: 'You are the last administrator who can sign in. Make another person an administrator first.',
      other:
        'Nothing was deleted. The page was for another person, who is not signed in in this browser now.',
    },
    done: {
      title: 'Your account is deleted',
      text: 'You are signed out everywhere, and no application or device has access any more.',
    },
  },
};
