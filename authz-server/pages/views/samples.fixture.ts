import type { Answer } from '#shared/http/answer.ts';
import type {
  AccountApplication,
  AccountKey,
  AccountSignIn,
  AccountStart,
  ActivityEntry,
} from '../frame/account-view.ts';
import type {
  AdminField,
  AdminNav,
  AdminOperationProps,
  AdminSection,
} from '../frame/admin-view.ts';
import type { AskedItem, Language, View } from '../frame/view.ts';
import { activityPage } from './activity.ts';
import { browserSince } from './account-sign-ins.ts';
import { accountPage } from './account.ts';
import { dataPage } from './data.ts';
import { accountRemovedPage, removeAccountPage } from './remove-account.ts';
import { adminHomePage, adminSearchPage } from './admin-home.ts';
import { adminOperationPage } from './admin-operation.ts';
import {
  addressConfirmedPage,
  addressesPage,
  addressGonePage,
  confirmAddressPage,
} from './addresses.ts';
import { accessEndPage } from './access-end.ts';
import { changePasswordPage } from './change-password.ts';
import { consentPage } from './consent.ts';
import { deviceConfirmPage } from './device-confirm.ts';
import { deviceEndPage } from './device-end.ts';
import { deviceEntryPage } from './device-entry.ts';
import { endEverythingPage, everythingEndedPage } from './end-everything.ts';
import { endOnePage } from './end-one.ts';
import { errorPage } from './error.ts';
import { forgottenPage, linkSentPage } from './forgotten.ts';
import { goOnPage } from './go-on.ts';
import { keyLinkPage } from './key-link.ts';
import { recoveredPage, recoverPage, recoveryGonePage } from './recover.ts';
import {
  askToRegisterPage,
  registeredPage,
  registerPage,
  registrationGonePage,
  registrationSentPage,
} from './registration.ts';
import { otherPersonPage } from './other-person.ts';
import { passkeysPage } from './passkeys.ts';
import { recoveryCodesPage } from './recovery-codes.ts';
import { secondFactorPage } from './second-factor.ts';
import { secondStepPage } from './second-step.ts';
import { selectAccountPage } from './select-account.ts';
import { signInPage } from './sign-in.ts';
import { signOutPage } from './sign-out.ts';
import { signedOutPage } from './signed-out.ts';
import { notArrivedPage } from './not-arrived.ts';
import { linkAccountPage, sourcesPage } from './sources.ts';

export const NOW = Date.UTC(2026, 2, 9, 7, 5);
const DAY = 86_400_000;

export function sampleView(language: Language, more: Partial<View> = {}): View {
  const links = [
    { text: { en: 'Terms', de: 'Nutzungsbedingungen' }, url: 'https://www.example/terms' },
    { text: { en: 'Privacy', de: 'Datenschutz' }, url: 'https://www.example/privacy' },
    { text: { en: 'Help' }, url: '/help' },
  ];
  const brand = { name: 'Countersign', color: '#1f5fbf', links };
  return { language, brand, csrf: 'proof-of-the-form', now: NOW, ...more };
}

const ITEMS: readonly AskedItem[] = [
  { id: '0', text: 'Know who you are at this server', scope: 'openid', required: true },
  {
    id: '1',
    text: 'Know your names, the name that you sign in with, your picture, web pages, gender, birthday, time zone and language',
    values: [
      'Alice Liddell',
      'alice@example.com',
      'https://pictures.example/of/alice.png',
      'en-GB',
    ],
    scope: 'profile',
    required: false,
  },
  {
    id: '2',
    text: 'Read documents',
    scope: 'documents:read',
    resource: 'https://api.example/documents/',
    place: 'Documents',
    required: false,
  },
  {
    id: '3',
    text: 'Add, change and delete documents',
    scope: 'documents:write',
    resource: 'https://api.example/documents/',
    place: 'Documents',
    required: false,
  },
];

const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1';

const APPLICATIONS: readonly AccountApplication[] = [
  {
    id: 'papertrail',
    name: 'Papertrail',
    items: ['Know who you are at this server', 'Read documents'],
    accesses: [
      {
        id: 'a',
        isDevice: false,
        since: NOW - 12 * DAY,
        lastIssue: NOW - 180_000,
        address: '192.0.2.17',
        agent: CHROME,
      },
      { id: 'b', isDevice: false, since: NOW - 40 * DAY },
    ],
    hidden: 4,
  },
  { id: 'notes', name: 'Weekly Notes', items: ['Read documents'], accesses: [] },
  {
    id: 'cli',
    name: 'Countersign CLI',
    items: ['Read documents', 'Add, change and delete documents'],
    accesses: [
      {
        id: 'c',
        isDevice: true,
        since: NOW - 2 * DAY,
        lastIssue: NOW - 5_400_000,
        address: '2001:db8:85a3:8d3:1319:8a2e:370:7348',
        agent: 'countersign-cli/1.0 (linux; x64)',
      },
    ],
  },
];

const FIELD: AdminField = {
  name: 'client_id',
  label: 'Client',
  kind: 'text',
  values: ['papertrail'],
  options: [],
  required: true,
};
const OPTIONS: AdminField['options'] = [
  { value: '', label: 'As it is' },
  { value: 'papertrail', label: 'Yes' },
];
const NAV: AdminNav = {
  sections: [
    { href: '/admin/user-list', text: 'People' },
    { href: '/admin/client-list', text: 'Applications', isHere: 'page' },
    { href: '/admin/realm-list', text: 'Access' },
  ],
  groups: [],
  search: '/admin/search',
};
const ADMIN: AdminOperationProps = {
  nav: NAV,
  title: 'New secret for an application',
  text: 'The client gets a new secret, which is shown once.',
  path: [
    { text: 'Applications', href: '/admin/client-list' },
    { text: 'New secret for an application' },
  ],
  home: '/admin',
  action: '/admin/client-secret',
  effect: 'changes',
  fields: [FIELD],
  once: 'mark-of-the-form',
  links: [],
};

const SECTION: AdminSection = {
  id: 'activity',
  title: 'Recent activity',
  events: [
    {
      at: NOW - DAY,
      title: 'Person disabled',
      about: 'dina',
      details: [
        ['By', { href: '/admin/user-show?name=alice', text: 'alice' }],
        ['Person', { href: '/admin/user-show?name=dina', text: 'dina' }],
      ],
    },
    { at: NOW - 2 * DAY, title: 'Signing key added', details: [['By', 'An operator']] },
  ],
  more: { href: '/admin/audit-list', text: 'Show all' },
};

const KEYS: readonly AccountKey[] = [
  {
    id: 'k',
    name: 'Laptop in the kitchen',
    scheme: 'HOBA',
    origin: 'https://api.example',
    since: NOW - 30 * DAY,
    lastUse: NOW - 60_000,
  },
  { id: 'l', name: 'backup', scheme: 'Concealed', since: NOW - DAY },
];

const STARTS: readonly AccountStart[] = [
  { name: 'Donaudampfschifffahrtsgesellschaftskapitän', url: 'https://donau.example/' },
  {
    name: 'Papertrail',
    url: 'https://papertrail.example/',
    logo: 'https://pictures.example/p.png',
  },
  { name: 'wiki', url: 'https://wiki.through-the-looking-glass.example:8443/start' },
];

const SIGN_INS: readonly AccountSignIn[] = [
  {
    id: 's',
    since: NOW - 20_000,
    address: '192.0.2.17',
    agent: CHROME,
    current: true,
    by: 'passkey',
  },
  {
    id: 't',
    since: NOW - 3 * DAY,
    address: '198.51.100.4',
    agent: SAFARI,
    current: false,
    by: 'second-factor',
    lastSeen: NOW - 7_200_000,
  },
];

const signIn = {
  forgotten: '/recover',
  register: '/register',
  action: '/interaction/x/login',
  client: 'Papertrail',
  cancel: { action: '/abort' },
  passkey: '{"challenge":"AAAA"}',
};
const SECOND_STEP = { name: 'alice@example.com', state: 'sealed', again: '/interaction/x' };
const NEW_SECOND_FACTOR = {
  uri: 'otpauth://totp/Countersign:alice%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Countersign',
  secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
  ways: [
    { item: 'a', kind: 'passkey', name: 'Telephone', since: NOW - 30 * DAY },
    { item: 'b', kind: 'key', name: 'Firefox on Linux', since: NOW - DAY, isTicked: true },
  ],
} as const;
const ACTIVITY: readonly ActivityEntry[] = [
  {
    kind: 'sign-in',
    at: NOW - 60_000,
    means: 'passkey',
    agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0',
    address: '2001:db8::7',
  },
  { kind: 'token.issued', at: NOW - 120_000, client: 'Holiday pictures', count: 12 },
  { kind: 'sign-in.refused', at: NOW - DAY, reason: 'password', count: 3 },
  { kind: 'sign-in.refused-more', at: NOW - DAY, count: 4000 },
  { kind: 'person.changed', at: NOW - 2 * DAY, by: 'administrator', part: 'profile' },
  { kind: 'grant.ended', at: NOW - 3 * DAY, by: 'operator' },
  { kind: 'consent.given', at: NOW - 4 * DAY, client: 'Donaudampfschifffahrtsgesellschaft' },
  { kind: 'other', at: NOW - 5 * DAY },
  { kind: 'person.added', at: NOW - 400 * DAY, by: 'operator' },
];
const REMOVAL = {
  action: '/account/remove',
  person: { id: 'person-1', name: 'alice@example.com' },
  file: '/account/data/file',
  back: '/account/data',
  applications: ['Papertrail', 'Donaudampfschifffahrtsgesellschaft'],
  isMore: false,
};
const NO_ACTIVITY = { entries: [], all: '/account/activity' };
const SECOND_FACTOR = { action: '/account/second-factor', back: '/account', hasPassword: true };
const RECOVERY_CODES = Array.from({ length: 10 }, (_, n) => `7K2QM-04XT${n}`);
const changePassword = {
  action: '/account/password',
  back: '/account',
  name: 'alice@example.com',
  endsOthers: true,
};
const recover = { action: '/recover/8pYkqvTBrZ0cKXyS3mWbHg', name: 'alice@example.com' };
const REGISTER = {
  action: '/register/x',
  address: 'alice@example.com',
  options: '{"challenge":"AAAA"}',
};
const ADDRESSES = { action: '/account/address', back: '/account' };
const EMAILS = [
  { address: 'alice@example.com', verified: true },
  { address: 'alice.liddell@example.com', verified: false },
];
const alice = (view: View): View => ({ person: 'alice@example.com', ...view });
const from = { address: '203.0.113.77', agent: 'countersign-cli/1.0', at: NOW - 95_000 };

const ending = {
  action: '/account',
  fields: {},
  back: '/account',
  isHere: false,
  browsers: [],
  applications: [],
};

const SOURCE_LINKS = [
  { title: 'Example Corp', href: '/sign-in/with/corp' },
  { title: 'University of Example', href: '/sign-in/with/uni' },
  { title: 'GitLab' },
];
const SOURCES = [
  { name: 'corp', title: 'Example Corp', link: '/', isOrigin: true },
  { name: 'uni', title: 'University of Example', link: '/', isOrigin: false, since: NOW - 950_000 },
  { name: 'gitlab', title: 'GitLab', link: '/sign-in/with/gitlab?do=link', isOrigin: false },
];
const NOT_ARRIVED = [
  'unknown',
  'address',
  'disabled',
  'late',
  'denied',
  'unavailable',
  'wrong',
] as const;

/** Every page in every state that looks different. */
export const SAMPLES: Readonly<Record<string, (view: View) => Answer>> = {
  'sign-in': (view) => signInPage(view, signIn),
  'sign-in-logo': (view) =>
    signInPage(view, { ...signIn, logo: 'https://pictures.example/of/alice.png' }),
  'sign-in-new': (view) => signInPage(view, { ...signIn, register: '/register', isNew: true }),
  'sign-in-sources': (view) => signInPage(view, { ...signIn, sources: SOURCE_LINKS }),
  'sign-in-wrong': (view) =>
    signInPage(view, { ...signIn, name: 'alice', problem: { kind: 'wrong' } }),
  'sign-in-later': (view) =>
    signInPage(view, { ...signIn, name: 'alice', problem: { kind: 'later', seconds: 90 } }),
  'sign-in-passkey': (view) =>
    signInPage(view, {
      ...signIn,
      name: 'alice',
      asks: 'passkey',
      passkey: '{"challenge":"AAAA"}',
    }),
  'sign-in-last-passkey': (view) =>
    signInPage(view, { ...signIn, last: 'passkey', passkey: '{"challenge":"AAAA"}' }),
  'sign-in-not-enough': (view) =>
    signInPage(view, { ...signIn, name: 'alice', asks: 'second-factor', notice: 'not-enough' }),
  'sign-in-once-more': (view) =>
    signInPage(view, {
      action: '/sign-in',
      purpose: 'account',
      notice: 'nothing-ended',
      since: NOW - 420_000,
    }),
  'sign-in-passkey-removed': (view) =>
    signInPage(view, { action: '/sign-in', purpose: 'account', notice: 'passkey-removed' }),
  sources: (view) =>
    sourcesPage(alice(view), { action: '/account/sources', sources: SOURCES, done: 'linked' }),
  'sources-problem': (view) =>
    sourcesPage(alice(view), { action: '/account/sources', sources: SOURCES, problem: 'last' }),
  'link-account': (view) =>
    linkAccountPage(alice(view), {
      action: '/account/sources',
      account: 'ticket',
      title: 'Example Corp',
      label: 'Alice Liddell',
    }),
  ...Object.fromEntries(
    NOT_ARRIVED.map((kind) => [
      `not-arrived-${kind}`,
      (view: View) => notArrivedPage(view, { kind, title: 'Example Corp', goOn: '/account' }),
    ]),
  ),
  'second-step': (view) => secondStepPage(view, { ...signIn, ...SECOND_STEP }),
  'second-step-wrong': (view) =>
    secondStepPage(view, { ...signIn, ...SECOND_STEP, problem: { kind: 'wrong' } }),
  'second-step-recovery-wrong': (view) =>
    secondStepPage(view, { ...signIn, ...SECOND_STEP, problem: { kind: 'recovery' } }),
  'second-step-later': (view) =>
    secondStepPage(view, { ...signIn, ...SECOND_STEP, problem: { kind: 'later', seconds: 240 } }),
  'second-step-set-up': (view) =>
    secondStepPage(view, { ...signIn, ...SECOND_STEP, setUp: NEW_SECOND_FACTOR }),
  'recovery-codes': (view) =>
    recoveryCodesPage(alice(view), { codes: RECOVERY_CODES, goOn: '/account' }),
  'recovery-codes-renewed': (view) =>
    recoveryCodesPage(alice(view), { codes: RECOVERY_CODES, goOn: '/account', renewed: true }),
  'second-factor-set-up': (view) =>
    secondFactorPage(alice(view), {
      isAnother: false,
      ...SECOND_FACTOR,
      setUp: NEW_SECOND_FACTOR,
      state: 'sealed',
      notice: 'removed',
    }),
  'second-factor-wrong': (view) =>
    secondFactorPage(alice(view), {
      isAnother: true,
      ...SECOND_FACTOR,
      setUp: NEW_SECOND_FACTOR,
      state: 'sealed',
      problem: { kind: 'wrong' },
    }),
  'second-factor': (view) =>
    secondFactorPage(alice(view), {
      notice: 'codes-shown',
      ...SECOND_FACTOR,
      since: NOW - 40 * DAY,
      left: 7,
      required: false,
    }),
  'second-factor-without-password': (view) =>
    secondFactorPage(alice(view), {
      ...SECOND_FACTOR,
      hasPassword: false,
      since: NOW - 40 * DAY,
      left: 7,
      required: false,
    }),
  'second-factor-required': (view) =>
    secondFactorPage(alice(view), {
      ...SECOND_FACTOR,
      since: NOW - 40 * DAY,
      left: 1,
      required: true,
    }),
  'change-password': (view) =>
    changePasswordPage(alice(view), { ...changePassword, hasPassword: true }),
  'change-password-wrong': (view) =>
    changePasswordPage(alice(view), {
      ...changePassword,
      hasPassword: true,
      problem: { kind: 'wrong' },
    }),
  'change-password-first': (view) =>
    changePasswordPage(alice(view), {
      ...changePassword,
      hasPassword: false,
      problem: { kind: 'common' },
    }),
  forgotten: (view) => forgottenPage(view, { action: '/recover', back: '/account' }),
  'forgotten-later': (view) =>
    forgottenPage(view, {
      action: '/recover',
      back: '/account',
      name: 'alice@example.com',
      problem: { kind: 'later', seconds: 1100 },
    }),
  'link-sent': (view) => linkSentPage(view, { back: '/account' }),
  addresses: (view) => addressesPage(alice(view), { ...ADDRESSES, emails: EMAILS, sent: true }),
  'addresses-none': (view) =>
    addressesPage(alice(view), {
      ...ADDRESSES,
      emails: [],
      typed: 'alice',
      problem: { kind: 'address' },
    }),
  'addresses-elsewhere': (view) =>
    addressesPage(alice(view), { ...ADDRESSES, emails: EMAILS, owner: 'Example Corp' }),
  'confirm-address': (view) =>
    confirmAddressPage(alice(view), {
      action: '/account/address/x',
      address: 'alice.liddell@example.com',
      former: 'alice@example.com',
    }),
  'address-confirmed': (view) =>
    addressConfirmedPage(alice(view), { address: 'alice@example.com', account: '/account' }),
  'address-gone': (view) => addressGonePage(alice(view)),
  'ask-to-register': (view) => askToRegisterPage(view, { action: '/register', back: '/account' }),
  'ask-to-register-later': (view) =>
    askToRegisterPage(view, {
      action: '/register',
      back: '/account',
      typed: 'alice@example.com',
      problem: { kind: 'later', seconds: 1100 },
    }),
  'registration-sent': (view) => registrationSentPage(view, { back: '/account' }),
  register: (view) => registerPage(view, REGISTER),
  'register-first': (view) => registerPage(view, { action: '/register/x' }),
  'register-taken': (view) =>
    registerPage(view, { ...REGISTER, name: 'alice', problem: { kind: 'taken' } }),
  'register-short': (view) =>
    registerPage(view, { ...REGISTER, name: 'alice', problem: { kind: 'short' } }),
  registered: (view) => registeredPage(view, { name: 'alice', account: '/account' }),
  'registration-gone': registrationGonePage,
  'recover-invitation': (view) =>
    recoverPage(view, {
      ...recover,
      purpose: 'invitation',
      secondFactor: false,
      options: '{"challenge":"AAAA"}',
    }),
  'recover-short': (view) =>
    recoverPage(view, {
      ...recover,
      purpose: 'recovery',
      secondFactor: true,
      problem: { kind: 'short' },
    }),
  recovered: (view) =>
    recoveredPage(view, { by: 'passkey', purpose: 'recovery', account: '/account' }),
  'recovery-gone': recoveryGonePage,
  'sign-in-passkey-copied': (view) =>
    signInPage(view, { ...signIn, problem: { kind: 'passkey-copied' } }),
  passkeys: (view) =>
    passkeysPage(alice(view), {
      action: '/account/passkeys',
      passkeys: [
        { id: 'p', name: 'Telephone', since: NOW - 30 * DAY, lastUse: NOW - 60_000, current: true },
        { id: 'q', name: 'Old key', since: NOW - 400 * DAY, refused: NOW - DAY, current: false },
      ],
      hasPassword: true,
      options: '{"challenge":"AAAA"}',
      done: 'added',
    }),
  'passkeys-alone': (view) =>
    passkeysPage(alice(view), {
      action: '/account/passkeys',
      passkeys: [{ id: 'p', name: 'Telephone', since: NOW - 30 * DAY, current: false }],
      hasPassword: false,
      options: '{"challenge":"AAAA"}',
      problem: 'last',
    }),
  'passkeys-nowhere': (view) =>
    passkeysPage(alice(view), { action: '/account/passkeys', passkeys: [], hasPassword: true }),
  consent: (view) =>
    consentPage(alice(view), {
      action: '/interaction/x/consent',
      client: 'Papertrail',
      redirectUri: 'https://papertrail.example/callback',
      items: ITEMS,
    }),
  'consent-described': (view) =>
    consentPage(alice(view), {
      action: '/interaction/x/consent',
      client: 'papertrail.example',
      redirectUri: 'http://127.0.0.1:49152/callback',
      described: { name: 'Papertrail', native: true, registered: false, since: NOW },
      items: ITEMS.slice(0, 2),
    }),
  'person-not-allowed': (view) =>
    otherPersonPage(alice(view), {
      reason: 'rule',
      client: 'Papertrail',
      person: 'alice',
      action: '/interaction/x/abort',
      other: '/interaction/x?account=other',
    }),
  'select-account': (view) =>
    selectAccountPage(alice(view), {
      client: 'Papertrail',
      person: 'alice',
      action: '/interaction/x/account',
      other: '/interaction/x?account=other',
      cancel: '/interaction/x/abort',
    }),
  'other-person': (view) =>
    otherPersonPage(alice(view), {
      reason: 'expected',
      client: 'Prints',
      person: 'alice',
      action: '/gnap/interact/abc',
      other: '/gnap/interact/abc?account=other',
    }),
  'device-entry': (view) => deviceEntryPage(alice(view), { action: '/device' }),
  'device-entry-unknown': (view) =>
    deviceEntryPage(alice(view), {
      action: '/device',
      userCode: 'BCDF-GHJK',
      problem: { kind: 'unknown' },
    }),
  'device-confirm': (view) =>
    deviceConfirmPage(alice(view), {
      action: '/device',
      client: 'Countersign CLI',
      userCode: 'BCDF-GHJK',
      items: ITEMS,
      from,
    }),
  'device-done': (view) =>
    deviceEndPage(alice(view), { end: 'done', client: 'Countersign CLI', again: '/device' }),
  'device-denied': (view) => deviceEndPage(alice(view), { end: 'denied', again: '/device' }),
  'device-expired': (view) => deviceEndPage(alice(view), { end: 'expired', again: '/device' }),
  'access-done': (view) => accessEndPage(alice(view), { end: 'done', client: 'Prints' }),
  'access-denied': (view) => accessEndPage(alice(view), { end: 'denied', client: 'Prints' }),
  'go-on': (view) =>
    goOnPage(view, {
      client: 'Papertrail',
      href: 'https://papertrail.example/callback?code=abc&state=def',
    }),
  'consent-unknown': (view) =>
    consentPage(alice(view), {
      action: '/gnap/interact/abc',
      client: 'Prints',
      pushUri: 'https://prints.example/told',
      unknown: 'KuwkCrkHcu79UpXqsMDM30dtdaHxQ9-KM_V75g4_AV4',
      items: ITEMS,
    }),
  'sign-out': (view) =>
    signOutPage(alice(view), { action: '/sign-out', hidden: {}, client: 'Papertrail' }),
  'signed-out': (view) => signedOutPage(view),
  'signed-out-untold': (view) => signedOutPage(view, ['Papertrail', 'Wiki']),
  'signed-out-untold-back': (view) =>
    signedOutPage(view, ['Wiki'], { href: 'https://app.example/bye', client: 'Papertrail' }),
  error: (view) =>
    errorPage(view, {
      status: 400,
      kind: 'request',
      detail: 'redirect_uri did not match any of the client’s registered redirect_uris',
      back: { href: '/', text: 'home' },
    }),
  'error-expired': (view) =>
    errorPage(alice(view), {
      status: 410,
      kind: 'expired',
      back: { href: '/account', text: 'account' },
    }),
  account: (view) =>
    accountPage(alice(view), {
      name: 'alice@example.com',
      profile: {
        display_name: 'Alice Liddell',
        picture: 'https://pictures.example/of/alice.png',
        emails: [
          { address: 'alice@example.com', verified: true },
          { address: 'alice.liddell@through-the-looking-glass.example', verified: false },
        ],
        groups: ['Staff', 'Chess club'],
      },
      starts: STARTS,
      lists: { signIns: SIGN_INS, applications: APPLICATIONS, more: ['sign-ins', 'applications'] },
      activity: { entries: ACTIVITY.slice(0, 5), all: '/account/activity' },
      ways: {
        hasPassword: true,
        passkeys: 2,
        accountsElsewhere: 1,
        hasSecondFactor: true,
        codesLeft: 7,
      },
      keys: KEYS,
      keyOrigins: ['https://api.example'],
      link: '/account/key',
      data: '/account/data',
      ended: 'access',
      admin: '/admin',
    }),
  data: (view) =>
    dataPage(alice(view), {
      file: '/account/data/file',
      removal: '/account/remove',
      back: '/account',
    }),
  'data-only': (view) => dataPage(alice(view), { file: '/account/data/file', back: '/account' }),
  'remove-account': (view) => removeAccountPage(alice(view), REMOVAL),
  'remove-account-last': (view) =>
    removeAccountPage(alice(view), { ...REMOVAL, isMore: true, problem: 'last' }),
  'remove-account-other': (view) =>
    removeAccountPage(alice(view), { ...REMOVAL, applications: [], problem: 'other' }),
  'account-removed': (view) => accountRemovedPage(view, { untold: ['Papertrail'] }),
  'account-group': (view) =>
    accountPage(alice(view), {
      name: 'alice@example.com',
      starts: [],
      lists: {
        signIns: [],
        applications: APPLICATIONS,
        more: [],
        shown: { group: 'applications', page: 2, pages: 3 },
      },
      activity: NO_ACTIVITY,
      ways: { hasPassword: true, passkeys: 0, hasSecondFactor: false },
      keys: KEYS,
      keyOrigins: [],
      link: '/account/key',
      data: '/account/data',
    }),
  'account-empty': (view) =>
    accountPage(alice(view), {
      name: 'alice@example.com',
      starts: [],
      lists: { signIns: SIGN_INS.slice(0, 1), applications: [], more: [] },
      activity: NO_ACTIVITY,
      ways: { hasPassword: false, passkeys: 0 },
      keys: [],
      keyOrigins: ['https://api.example'],
      link: '/account/key',
      data: '/account/data',
    }),
  activity: (view) =>
    activityPage(alice(view), {
      entries: ACTIVITY,
      isFirst: false,
      older: '/account/activity?after=7',
      newest: '/account/activity',
      back: '/account',
    }),
  'activity-empty': (view) =>
    activityPage(alice(view), {
      entries: [],
      isFirst: true,
      newest: '/account/activity',
      back: '/account',
    }),
  'key-link': (view) =>
    keyLinkPage(alice(view), {
      link: 'https://api.example/.well-known/hoba/key#8pYkqvTBrZ0cKXyS3mWbHg',
      back: '/account',
    }),
  'end-sign-in': (view) =>
    endOnePage(alice(view), {
      ...ending,
      kind: 'sign-in',
      name: browserSince(view, { agent: CHROME, since: NOW - DAY, address: '2001:db8::7' }),
      isHere: true,
      applications: ['Papertrail', 'Weekly Notes'],
    }),
  'end-access': (view) =>
    endOnePage(alice(view), { ...ending, kind: 'access', name: 'Papertrail, Safari on iPhone' }),
  'end-application': (view) =>
    endOnePage(alice(view), {
      ...ending,
      kind: 'application',
      name: 'Papertrail',
      browsers: [
        browserSince(view, { agent: CHROME, since: NOW - DAY, address: '2001:db8::7' }),
        'A browser',
      ],
    }),
  'end-key': (view) =>
    endOnePage(alice(view), { ...ending, kind: 'key', name: 'Laptop in the kitchen' }),
  'end-passkey': (view) =>
    endOnePage(alice(view), {
      ...ending,
      kind: 'passkey',
      name: 'Telephone',
      browsers: ['Safari on iPhone'],
      applications: ['Papertrail'],
    }),
  'end-everything': (view) =>
    endEverythingPage(alice(view), {
      action: '/account',
      back: '/account',
      lists: { signIns: SIGN_INS, applications: APPLICATIONS },
      isMore: true,
    }),
  'everything-ended': (view) =>
    everythingEndedPage(view, {
      signIns: 2,
      grants: 11,
      untold: ['Papertrail', 'Wiki'],
      again: '/account',
    }),
  'admin-home': (view) =>
    adminHomePage(alice(view), {
      name: 'alice@example.com',
      nav: NAV,
      figures: [
        ['People', '100+'],
        ['Version', '1.2.3'],
      ],
      notices: [
        { text: '3 people lack a second factor', href: '/admin/user-list' },
        {
          text: 'Check a setting:',
          href: '/admin/server-status',
          detail: 'spaces.0.schemes names none: everybody reaches the application.',
        },
      ],
      recent: SECTION,
      links: [{ href: '/admin/client-add', text: 'Register an application' }],
    }),
  'admin-search': (view) =>
    adminSearchPage(alice(view), {
      nav: { ...NAV, searched: 'pap' },
      sections: [
        { id: 'people', title: 'People', columns: ['name'], rows: [] },
        {
          id: 'applications',
          title: 'Applications',
          columns: ['client_name', 'client_id'],
          rows: [{ item: { client_name: 'Papertrail', client_id: 'papertrail' }, href: '/' }],
        },
      ],
    }),
  'admin-list': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      title: 'All applications',
      effect: 'reads',
      fields: [{ ...FIELD, label: 'Begins with', required: false, values: [] }],
      told: {
        kind: 'list',
        columns: ['client_id', 'client_name', 'scope', 'created_at'],
        rows: ['papertrail', 'a-client-with-a-name-that-does-not-end-soon'].map((client_id) => ({
          item: {
            client_id,
            client_name: 'Papertrail',
            scope: 'openid profile offline_access documents:read',
            created_at: NOW - DAY,
          },
          href: '/admin/client-show?client_id=papertrail',
        })),
        next: '/admin/client-list?after=papertrail',
      },
    }),
  'admin-nothing': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      effect: 'reads',
      fields: [],
      told: { kind: 'list', columns: ['client_id'], rows: [] },
    }),
  'admin-one': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      title: 'Papertrail (papertrail)',
      path: [
        { text: 'Applications', href: '/admin/client-list' },
        { text: 'Papertrail (papertrail)' },
      ],
      effect: 'reads',
      told: {
        kind: 'one',
        value: {
          client_id: 'papertrail',
          redirect_uris: ['https://papertrail.example/callback', 'http://127.0.0.1/callback'],
          jwks: { keys: [{ kty: 'EC', crv: 'P-256' }] },
          first_party: false,
          resources: [],
          created_at: NOW - DAY,
        },
      },
      links: [
        {
          href: '/admin/client-secret?client_id=papertrail',
          text: 'New secret for an application',
        },
        { href: '/admin/client-remove?client_id=papertrail', text: 'Remove an application' },
      ],
      sections: [
        SECTION,
        {
          id: 'sign-ins',
          title: 'Sign-ins',
          columns: ['agent', 'since'],
          rows: [
            {
              item: { agent: CHROME, since: NOW - DAY },
              links: [{ href: '/admin/user-end?sign_in=s', text: 'End' }],
            },
          ],
        },
        { id: 'grants', title: 'Grants', columns: ['client_id'], rows: [] },
      ],
    }),
  'admin-change': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      problem: { kind: 'sent' },
      status: 409,
      fields: [
        { ...FIELD, problem: 'must be the name of a person' },
        { ...FIELD, name: 'password', label: 'Password', kind: 'secret', values: [] },
        { ...FIELD, name: 'other', label: 'what it is for', isEnglish: true },
        { ...FIELD, name: 'overlap', label: 'Seconds', kind: 'number', required: false },
        { ...FIELD, name: 'emails', label: 'E-mail addresses', kind: 'lines', values: ['a', 'b'] },
        { ...FIELD, name: 'admin', label: 'Administrator', kind: 'choice', options: OPTIONS },
        { ...FIELD, name: 'without', label: 'Clear these', kind: 'choices', options: OPTIONS },
      ],
      parts: [
        { title: 'GNAP', fields: [{ ...FIELD, name: 'gnap_key' }], isOpen: false },
        {
          title: 'Client ID metadata document',
          fields: [{ ...FIELD, name: 'document' }],
          isOpen: true,
        },
      ],
    }),
  'admin-kinds': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      title: 'Register an application',
      kinds: [
        { href: '/admin/client-add?kind=web', text: 'Web application', does: 'It has a server.' },
        { href: '/admin/client-add?kind=machine', text: 'Machine', does: 'No person signs in.' },
      ],
    }),
  'admin-lines': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      fields: [],
      done: 'The application is registered.',
      told: { kind: 'one', value: { client_id: 'papertrail', client_secret: 'x'.repeat(43) } },
      lines: `curl 'https://auth.example/token' -u 'papertrail:${'x'.repeat(43)}'`,
    }),
  'admin-part': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      title: 'End the grant of dina to Papertrail?',
      text: 'The tokens of this grant are refused at once. Grants of other people stay.',
      action: '/admin/client-end',
      fields: [],
      hidden: { client_id: 'papertrail', grant: '8pYkqvTBrZ0cKXy' },
      submit: 'End this grant',
      warning: '3 people lose access.',
      danger: true,
    }),
  'admin-refused': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      text: 'give a client a new secret',
      isEnglish: true,
      problem: { kind: 'refused', text: 'there is no client papertrail' },
      status: 404,
    }),
  'admin-done': (view) =>
    adminOperationPage(alice(view), {
      ...ADMIN,
      done: 'The application has a new secret. It is shown only this once: save it now.',
      told: { kind: 'one', value: { client_id: 'papertrail', client_secret: '8pYkqvTBrZ0cKXy' } },
    }),
};
