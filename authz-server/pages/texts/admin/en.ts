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
  lines: 'One a line.',
  optional: 'optional',
  problem: 'Nothing was done.',
  /** Said before a reason that has no words in the language of the page. */
  sent: 'Nothing was done: this form was sent already, or is too old. Look whether it is still needed, then send it again.',
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
  kindsOf: { title: 'What kind of application is it?', others: 'All settings' },
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
    machine: { title: 'Machine', text: 'A program acts in its own name. Nobody signs in.' },
    device: {
      title: 'Device',
      text: 'A TV or a command line shows a code, which a person types in elsewhere.',
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
  danger: 'This takes something away',
  actions: 'Actions',
  end: 'End',
  remove: 'Remove',
  replace: 'Replace',
  compromised: 'Others may have it',
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
    proof: 'Proof of who it is',
    access: 'What else it may do',
    gnap: 'A client of GNAP',
    document: 'By its own description',
    clear: 'Clear settings',
  },
  quoted: (label: string) => `“${label}”`,
  backup: {
    none: 'None is known',
    schedule: (period: string, kept: number | undefined) =>
      `Every ${period}${kept === undefined ? '' : `; ${kept} are kept`}`,
    unplanned: 'Not set up: the setting “backup” says how often and where',
  },
  overview: {
    title: 'To do',
    nothing: 'Nothing wants your attention.',
    people: 'People',
    clients: 'Applications',
    processes: 'Running processes',
    version: 'Version',
    lacking: (count: number) =>
      count === 1
        ? 'One person must have a second factor and lacks it'
        : `${count} people must have a second factor and lack it`,
    ending: (count: number) =>
      count === 1 ? 'One API key ends within two weeks' : `${count} API keys end within two weeks`,
    unready: (count: number) =>
      count === 1 ? 'One process is not ready' : `${count} processes are not ready`,
    overdue: 'A backup is overdue',
    noBackups: 'Backups are not set up, and no good one is known',
    mixed: (count: number) => `Processes of at least ${count} versions run`,
    bans: (count: number) =>
      count === 1
        ? 'One ban has not reached every process'
        : `${count} bans have not reached every process`,
    warning: (count: number) =>
      count === 1 ? 'Look again at a setting:' : `Look again at ${count} settings:`,
    more: (count: number) => `and ${count} more`,
  },
  groups: {
    user: { title: 'People', text: 'Who can sign in here, and how.' },
    client: { title: 'Applications', text: 'The clients that get tokens from this server.' },
    key: { title: 'API keys', text: 'Keys with which applications call APIs.' },
    'signing-keys': {
      title: 'Signing keys',
      text: 'The keys that sign the tokens of this server.',
    },
    'private-token': {
      title: 'PrivateToken keys',
      text: 'The keys of tokens that do not say who somebody is.',
    },
    revocation: {
      title: 'Revocations',
      text: 'What tells resource servers that a token has ended.',
    },
    token: { title: 'Tokens', text: 'Single access tokens.' },
    realm: { title: 'Spaces', text: 'What is protected, and how.' },
    cache: { title: 'Caches', text: 'Stored answers of applications.' },
    audit: { title: 'Activity', text: 'Who changed what, when, and by which door.' },
    server: { title: 'Servers', text: 'The running processes, and what to look at again.' },
  },
  events: adminEventsEn,
  named: adminNamedEn,
  partly: adminPartsEn,
  /** Said beside a button that ends everything. */
  endsWith: {
    people: (count: string) => {
      if (count === '0') return 'Nobody has given it a grant that still lives.';
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
    trees: 'Also erase the documents in their own trees',
    document: 'Address of its description, instead of all other fields',
  },
  hints: {
    since: '2h or 2026-11-25',
    until: '2h or 2026-11-25',
    redirect_uris: 'Needed for authorization_code, which sends its code there.',
  },
  /** Choices of a form that need more than their names. */
  choices: {
    client_credentials: 'client_credentials: a machine in its own name',
    authorization_code: 'authorization_code: people who sign in in a browser',
    refresh_token: 'refresh_token: the access of people is renewed without them',
    device_code: 'device_code: people with a device that has no browser',
  },
  scopes: (known: string) => `The spaces ask for: ${known}`,
  members: membersEn,
};
