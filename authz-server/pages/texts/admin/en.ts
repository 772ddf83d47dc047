import { adminEventsEn } from './events-en.ts';
import { adminNamedEn, adminPartsEn } from './named-en.ts';
import { clientOperationsEn } from './client-operations-en.ts';
import { userOperationsEn } from './user-operations-en.ts';
import { otherOperationsEn } from './other-operations-en.ts';
import { membersEn } from './members-en.ts';

/** The texts of the pages of administrators. Operations and members go by their names. */
export const adminEn = {
  title: 'Administration',
  lead: (name: string) =>
    `You are ${name}, an administrator of this server. Everything here can also be done on the command line.`,
  where: 'Where you are',
  search: 'Show',
  others: 'What you can do',
  nothing: 'There is nothing here.',
  next: 'Next page',
  none: 'Not set',
  empty: 'None',
  unchanged: 'As it is',
  byDefault: 'Default',
  any: 'Any',
  yes: 'Yes',
  no: 'No',
  lines: 'One value per line.',
  optional: 'optional',
  problem: 'Nothing was done.',
  /** Said before a reason that has no words in the language of the page. */
  sent: 'Nothing was done: this form was already sent, or is too old. Check whether the change is still needed, then send the form again.',
  done: 'It is done.',
  goOn: 'Back to administration',
  nav: {
    people: 'People',
    applications: 'Applications',
    access: 'Access',
    activity: 'Activity',
    servers: 'Servers',
    advanced: 'Advanced',
  },
  within: 'In this section',
  kindsOf: { title: 'What kind of application is it?', others: 'All settings', submit: 'Register' },
  /** Kinds of clients. */
  kinds: {
    web: { title: 'Web application', text: 'A server signs people in. It can keep a secret.' },
    browser: {
      title: 'Single-page application',
      text: 'JavaScript in the browser signs people in, without a server of its own.',
    },
    native: {
      title: 'Installed application',
      text: 'A program on a phone or computer signs people in.',
    },
    machine: { title: 'Machine', text: 'A program acts in its own name. No person signs in.' },
    device: {
      title: 'Device',
      text: 'A TV or a command line shows a code. A person types the code on another device.',
    },
    mcp: {
      title: 'MCP client',
      text: 'A client of the Model Context Protocol that has no document of its own.',
    },
  },
  paste: 'Lines for the developer',
  find: {
    label: 'Search people and applications',
    hint: 'Name, id or address',
    submit: 'Search',
    title: 'Search',
    text: 'People by name, address or id; applications by name or client_id. The beginning of a word is enough.',
    person: 'Person',
    application: 'Application',
    found: (count: number) => (count === 1 ? 'One found' : `${count} found`),
  },
  more: 'More',
  danger: 'Actions that take access away',
  actions: 'Actions',
  end: 'End',
  remove: 'Remove',
  replace: 'Replace',
  compromised: 'The key may have leaked',
  all: 'Show all',
  open: (name: string) => `Open ${name}`,
  noWarnings: 'No warnings.',
  sections: {
    passkeys: 'Passkeys',
    keys: 'Keys',
    signIns: 'Sign-ins',
    grants: 'Grants',
    consents: 'Consents',
    activity: 'Recent activity',
    warnings: 'Warnings of the configuration',
    bans: 'Bans of the last day',
    processes: 'Processes of the last minute',
    feed: 'Feed of revocations',
  },
  /** Headings of long forms. */
  parts: {
    people: 'Sign-in of people',
    proof: 'Client authentication',
    access: 'More rights',
    gnap: 'A GNAP client',
    document: 'Client ID metadata document',
    clear: 'Clear settings',
  },
  quoted: (label: string) => `“${label}”`,
  backup: {
    none: 'None is known',
    schedule: (period: string, kept: number | undefined) =>
      `Every ${period}${kept === undefined ? '' : `; ${kept} are kept`}`,
    unplanned: 'Not set up. Set “backup” to choose how often and where.',
  },
  overview: {
    title: 'To do',
    nothing: 'Nothing needs your attention.',
    people: 'People',
    clients: 'Applications',
    processes: 'Running processes',
    version: 'Version',
    lacking: (count: number) =>
      count === 1
        ? 'One person must have a second factor and lacks it'
        : `${count} people must have a second factor and lack it`,
    ending: (count: number) =>
      count === 1
        ? 'One API key expires within two weeks'
        : `${count} API keys expire within two weeks`,
    unready: (count: number) =>
      count === 1 ? 'One process is not ready' : `${count} processes are not ready`,
    overdue: 'A backup is overdue',
    noBackups: 'Backups are not set up, and no complete backup is known',
    mixed: (count: number) => `Processes of at least ${count} versions run`,
    bans: (count: number) =>
      count === 1
        ? 'One ban has not reached every process'
        : `${count} bans have not reached every process`,
    warning: (count: number) => (count === 1 ? 'Check a setting:' : `Check ${count} settings:`),
    more: (count: number) => `and ${count} more`,
  },
  groups: {
    user: { title: 'People', text: 'The people who can sign in here, and how they sign in.' },
    client: { title: 'Applications', text: 'The clients that get tokens from this server.' },
    key: { title: 'API keys', text: 'Keys with which applications call APIs.' },
    'signing-keys': {
      title: 'Signing keys',
      text: 'The keys that sign the tokens of this server.',
    },
    'private-token': {
      title: 'PrivateToken keys',
      text: 'The keys that sign tokens without the name of a person.',
    },
    revocation: {
      title: 'Revocations',
      text: 'The list from which resource servers learn that a token was revoked.',
    },
    token: { title: 'Tokens', text: 'Single access tokens.' },
    realm: { title: 'Spaces', text: 'The protected URLs, and their schemes.' },
    cache: { title: 'Caches', text: 'Stored answers of applications.' },
    audit: {
      title: 'Activity',
      text: 'Each change: the person or program, the time and the interface.',
    },
    server: { title: 'Servers', text: 'The running processes, and settings to check.' },
  },
  events: adminEventsEn,
  named: adminNamedEn,
  partly: adminPartsEn,
  /** Said beside a button that ends everything. */
  endsWith: {
    people: (count: string) => {
      if (count === '0') return 'No person has given it a grant that is still valid.';
      return count === '1' ? 'One person loses access.' : `${count} people lose access.`;
    },
    access: (signIns: string, grants: string) =>
      `Sign-ins that end: ${signIns}. Grants that end: ${grants}.`,
  },
  operations: {
    ...clientOperationsEn,
    ...userOperationsEn,
    ...otherOperationsEn,
  },
  /** Labels of fields that say something else than the member of the same name in a result. */
  fields: {
    second_factor: 'Also remove the second factor',
    trees: 'Also erase all documents in the trees of this person',
    document: 'URL of the client ID metadata document, instead of all other fields',
  },
  hints: {
    since: '2h or 2026-11-25',
    until: '2h or 2026-11-25',
    redirect_uris: 'Needed for authorization_code: the browser brings the code to this URL.',
  },
  /** Choices of a form that need more than their names. */
  choices: {
    client_credentials: 'client_credentials: a machine in its own name',
    authorization_code: 'authorization_code: people who sign in in a browser',
    refresh_token: 'refresh_token: the client renews access while people are away',
    device_code: 'device_code: people with a device that has no browser',
  },
  scopes: (known: string) => `The spaces need: ${known}`,
  members: membersEn,
};
