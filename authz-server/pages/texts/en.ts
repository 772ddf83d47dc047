import { html, strong } from '#shared/pages/html.ts';
import { accountEn } from './account-en.ts';
import { endOneEn } from './end-one-en.ts';
import { homeEn } from './home-en.ts';
import { adminEn } from './admin/en.ts';
import { activityEn } from './activity-en.ts';
import { addressesEn } from './addresses-en.ts';
import { dataEn } from './data-en.ts';
import { passkeysEn } from './passkeys-en.ts';
import { passwordEn } from './password-en.ts';
import { registrationEn } from './registration-en.ts';
import { sourcesEn } from './sources-en.ts';
import { secondFactorEn } from './second-factor-en.ts';
import { ownSessionsEn } from './own-sessions.ts';

/** The texts of the pages. Other languages have the same members, so a missing one does not compile. */
export type Texts = typeof en;

export const en = {
  /** For dates: British English writes day, month, year, in 24 hours. */
  locale: 'en-GB',
  yourAccount: 'Your account',
  signOut: 'Sign out',
  youAre: 'Signed in as',
  allow: 'Allow',
  deny: 'Deny',
  tryAgain: (when: string) => `Try again ${when}.`,
  programOn: (program: string, system: string) => `${program} on ${system}`,
  /** Scopes of our own; those of resources are put in words by the operator (`scopeTexts`). */
  scopes: {
    openid: 'Know who you are at this server',
    profile:
      'Know your names, the name that you sign in with, your picture, web pages, gender, birthday, time zone and language',
    email: 'Know your e-mail address, and whether it is confirmed',
    phone: 'Know your telephone number',
    address: 'Know your postal address',
    groups: 'Know which groups you are in',
    offline_access: 'Keep its access while you are away, until you end the access',
    'private-token':
      'Get tokens that other sites accept without learning who you are. This server does not learn where you use the tokens.',
  } as Readonly<Record<string, string>>,

  items: {
    aboutYou: 'About you',
    at: (resource: string) => `In “${resource}”`,
    here: 'At this server',
    required: 'always part of it',
  },

  signIn: {
    title: 'Sign in',
    problemTitle: 'Error: sign in',
    toContinue: (client: string) => html`to continue to ${strong(client)}`,
    purposes: {
      account: 'to go to your account',
      device: 'to connect a device',
      access: 'to decide about an application',
      admin: 'to administer this server',
    },
    asks: {
      'second-factor': (client: string) =>
        html`${strong(client)} asks for a second factor or a passkey. A password alone is not
        enough.`,
      passkey: (client: string) =>
        html`${strong(client)} asks for a passkey. A password is not enough.`,
    },
    name: 'Name',
    password: 'Password',
    show: 'Show',
    /** For those who do not see beside what the button stands. */
    showWhat: ' what I type',
    submit: 'Sign in',
    forgotten: 'Forgotten your password?',
    register: 'Create an account',
    orSignIn: 'If you have an account already, sign in:',
    usePasskey: 'Use a passkey',
    usePasskeyAgain: 'Use a passkey, as last time',
    noSecondFactor:
      'If you have no second factor yet, you set it up after you enter your password.',
    tooLongAgo: (ago: string) => `You last signed in ${ago}. Sign in again to continue.`,
    noPasskey: 'No passkey yet?',
    makePasskey: 'Make a passkey in your account',
    passkeyFailed:
      'No passkey was used: you cancelled, it took too long, or this device has no passkey for this server.',
    cancel: 'Cancel',
    wrong: 'Name or password is wrong. Check both and try again.',
    'use-passkey':
      'Your password is right, but your account also needs a second factor. Sign in with your passkey instead. If you lost your passkey, ask the people who run this server. Ask them, too, if you never made a passkey: another person may know your password.',
    'step-over':
      'The second step took too long, or was done already. Start again with name and password.',
    'codes-shown':
      'Your second factor is set up already, and its recovery codes were shown once. If you did not save the codes, sign in and make new codes on your account page, under “Second factor”.',
    later: 'There were too many attempts to sign in.',
    passkey:
      'You cannot sign in with this passkey: it was removed, or it is for another site. Sign in another way.',
    'passkey-late':
      'The sign-in took longer than five minutes, or your browser sent it twice. Use the passkey again.',
    'arrival-over': 'The sign-in took too long, or your browser sent it twice. Start again.',
    'arrival-needs-passkey':
      'Your account also needs a second factor. Sign in with your passkey instead.',
    orWith: 'Or use an account elsewhere:',
    withSource: (title: string) => `Sign in with ${title}`,
    sourceDown: (title: string) => `${title} does not answer at the moment. Sign in another way.`,
    'passkey-copied':
      'This passkey was refused, since another person may have a copy of it. Sign in another way, then remove this passkey.',
    notices: {
      'nothing-ended':
        'Nothing has ended: you are no longer signed in here. Sign in, then try again.',
      'nothing-changed':
        'Nothing was changed: you are no longer signed in here. Sign in, then try again.',
      'passkey-removed':
        'The passkey is removed. You had signed in with it here, so this browser is signed out.',
      'not-enough': 'You are signed in, but this needs a stronger sign-in.',
      again: 'Sign in once more before you change how you sign in.',
      'again-for-data': 'Sign in once more before you download your data.',
      'again-to-remove': 'Sign in once more before you delete your account.',
      admin:
        'Administrators sign in with a second factor or a passkey, and again after ten minutes.',
    },
  },

  ...passwordEn,

  consent: {
    title: (client: string) => `Allow access to ${client}?`,
    lead: (client: string) =>
      html`${strong(client)} asks for the following. Untick what you do not want to allow.`,
    toHost: (host: string) => html`After this your browser goes to ${strong(host)}.`,
    toThisMachine: (host: string) =>
      html`After this your browser goes to a program on this computer, at ${strong(host)}.`,
    toApp: (scheme: string) =>
      html`After this your browser opens the app on this device that handles ${strong(scheme)}
      links.`,
    toServer: (host: string) => html`After this we tell ${strong(host)} what you decided.`,
    end: 'You can end this access at any time on your account page.',
  },

  /** The access that an application asks for, as it describes it itself (GNAP). */
  rights: {
    actions: (actions: string, type: string) => `${actions} (${type})`,
    datatypes: (types: string) => `of these data: ${types}`,
    identifier: (name: string) => `named ${name}`,
    locations: (places: string) => `at ${places}`,
    privileges: (names: string) => `with these privileges: ${names}`,
  },

  unknownClient: {
    title: 'This server does not know this application.',
    unnamed: 'an application without a name',
    text: 'Its name proves nothing. Allow access only if you started this yourself just now.',
    key: 'Its key:',
  },

  describedClient: {
    text: (host: string, name: string) =>
      html`This application is not registered here. All that this server knows about it comes from
      ${strong(host)}, where the application calls itself ${strong(name)}.`,
    registered: (host: string, name: string) =>
      html`The people who run this server have registered ${strong(host)}. The application itself
      chose the name ${strong(name)}.`,
    native:
      'Any program on this computer could pretend to be this application. Allow access only if you started this yourself just now.',
  },

  deviceEntry: {
    title: 'Connect a device',
    problemTitle: 'Error: connect a device',
    lead: 'Your device shows a code. Enter the code here to connect the device.',
    code: 'Code',
    hint: 'Eight letters, such as BCDF-GHJK. Capitals and dashes do not matter.',
    submit: 'Continue',
    unknown: 'This code is wrong, or it has expired. Compare it with the code on your device.',
    later: 'You entered too many codes.',
  },

  deviceConfirm: {
    title: (client: string) => `Connect ${client}?`,
    compare: 'Compare this code with the code on your device:',
    warningTitle: 'Did someone send you this code?',
    linkTitle: 'Did someone send you this link?',
    warning:
      'Then deny. The sender would get access in your name. Allow only a device that you hold or see, and that you are setting up yourself right now.',
    asked: 'Asked',
    address: 'From address',
    program: 'With program',
    unknown: 'not known',
    lead: (client: string) =>
      html`${strong(client)} would get the following. Untick what you do not want to allow.`,
  },

  deviceEnd: {
    done: {
      title: 'Your device is connected',
      text: 'It has access now. You can close this page and go back to your device.',
    },
    denied: {
      title: 'Nothing was connected',
      text: 'You denied access. The code no longer works.',
    },
    expired: {
      title: 'This code no longer works',
      text: 'It has expired or was used already. Start again on the device to get a new code.',
    },
    application: 'Application',
    account: 'See what has access',
    again: 'Enter another code',
  },

  selectAccount: {
    title: 'Choose an account',
    text: (client: string, person: string) =>
      html`${strong(client)} asks which account you want to use. You are signed in as
      ${strong(person)}.`,
    goOn: (person: string) => `Continue as ${person}`,
    other: 'Use another account',
    cancel: 'Cancel',
  },

  otherPerson: {
    title: {
      expected: 'This is for another person',
      rule: 'You may not use this application',
    },
    expected: (client: string, person: string) =>
      html`${strong(client)} expects another person. You are signed in as ${strong(person)}. If you
      have another account, use that one.`,
    rule: (client: string, person: string) =>
      html`${strong(client)} is for other people. You are signed in as ${strong(person)}. If you
      have another account, use that one. To get access, ask the operator of this server.`,
    other: 'Use another account',
    back: 'Cancel',
  },

  goOn: {
    title: (client: string) => `Back to ${client}`,
    text: 'Your browser goes there by itself. If nothing happens, press the button. If an app opens, you can close this page.',
    on: 'Continue',
  },

  /** The end of a request that came neither from a device nor goes back to the client. */
  accessEnd: {
    done: {
      title: 'Access was given',
      text: 'The application has access now. You can close this page.',
    },
    denied: {
      title: 'Nothing was allowed',
      text: 'The application gets no access. You can close this page.',
    },
  },

  signOutPage: {
    title: 'Sign out?',
    lead: `You will be signed out in this browser. Applications that need you to be signed in lose their access. ${ownSessionsEn}`,
    asked: (client: string) => html`${strong(client)} asks to sign you out here.`,
    stay: 'Stay signed in',
  },

  signedOut: {
    title: 'You are signed out',
    text: `It is safe to close this page. ${ownSessionsEn}`,
    signIn: 'Sign in again',
  },

  error: {
    expired: {
      title: 'This page is too old',
      text: 'It has expired, was used already, or belongs to another browser. If you pressed a button twice, the first press may have worked. Go back to where you started, and try again.',
    },
    done: {
      title: 'The sign-in is done',
      text: 'You pressed twice, or went back. The application already has its answer. Continue in the application.',
    },
    request: {
      title: 'This request cannot be answered',
      text: 'The application that sent you here asked for something that is not possible. Nothing was changed.',
    },
    'not-found': {
      title: 'There is nothing here',
      text: 'The address may be mistyped, or the page no longer exists.',
    },
    later: {
      title: 'Too many requests',
      text: 'Too many requests came from your address in a short time. Wait a moment, then try again.',
    },
    unavailable: {
      title: 'We cannot answer right now',
      text: 'A part of this service does not respond. Try again in a moment.',
    },
    server: {
      title: 'Something went wrong',
      text: 'This is our fault. The reason is in the log of the server. Try again in a moment.',
    },
    back: {
      account: 'Go to your account',
      device: 'Connect a device',
      home: 'Go to the start page',
      client: 'Back to the application',
    },
  },

  account: accountEn,

  home: homeEn,
  admin: adminEn,

  activity: activityEn,
  addresses: addressesEn,
  data: dataEn,
  passkeys: passkeysEn,
  registration: registrationEn,
  secondFactor: secondFactorEn,
  sources: sourcesEn,

  keyLink: {
    title: 'Make a key',
    text: 'Open this link in the browser that will have the key, here or on another device. The link works once, for ten minutes, and only while you are signed in here.',
    warning: 'Anyone with this link can make a key and sign in as you. Do not share the link.',
    back: 'Back to your account',
  },

  endOne: endOneEn,

  endEverything: {
    title: 'End everything?',
    text: `You will be signed out in every browser, including this browser. Every application and device loses its access at once. You cannot undo this: you have to allow each of them again. ${ownSessionsEn}`,
    browsers: 'These browsers will be signed out:',
    applications: 'These applications will lose their access:',
    more: 'This list is not complete: the rest ends, too.',
    stays:
      'Your password, passkeys and keys stay. Change or remove each that another person may have.',
    submit: 'End everything',
    keep: 'End nothing',
    done: {
      title: 'Everything has ended',
      text: `You are signed out everywhere, and no application or device has access any more. You can sign in again. ${ownSessionsEn}`,
      untold: (names: string) =>
        `The server could not tell these applications yet, and goes on trying: ${names}.`,
      signIns: 'Browsers that were signed in',
      grants: 'Applications and devices that had access',
    },
  },
};
