import { html, strong } from '#shared/pages/html.ts';
import { accountEn } from './account-en.ts';
import { endOneEn } from './end-one-en.ts';
import { homeEn } from './home-en.ts';
import { adminEn } from './admin/en.ts';
import { activityEn } from './activity-en.ts';
import { addressesEn } from './addresses-en.ts';
import { passkeysEn } from './passkeys-en.ts';
import { passwordEn } from './password-en.ts';
import { registrationEn } from './registration-en.ts';
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
    profile: 'Know your name, the name that you sign in with, your picture and your language',
    email: 'Know your e-mail address, and whether it is confirmed',
    groups: 'Know which groups you are in',
    offline_access: 'Keep access while you are not there, until you end it',
    'private-token':
      'Get tokens that let you in elsewhere without saying who you are. There nobody learns that it was you; here nobody learns where you use them.',
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
    usePasskey: 'Use a passkey',
    usePasskeyAgain: 'Use a passkey, as last time',
    noSecondFactor: 'If you have none yet, you set one up after your password.',
    tooLongAgo: (ago: string) => `You last signed in ${ago}. This asks for a newer sign-in.`,
    noPasskey: 'You have none yet?',
    makePasskey: 'Make one in your account',
    passkeyFailed:
      'The browser showed no passkey: it was cancelled, took too long, or this device has none for here.',
    cancel: 'Cancel',
    wrong: 'Name or password is wrong. Check both and try again.',
    'use-passkey':
      'Your password is right, but a second factor is needed, too. Use your passkey: it is both. If you lost it or never made one, ask who runs this server: in the second case somebody else may know your password.',
    'step-over':
      'The second step took too long, or was done already. Start again with name and password.',
    'codes-shown':
      'Your second factor is set up already, and its recovery codes were shown once. If you have not kept them, sign in and make new ones on your account page, under “Second factor”.',
    later: 'There were too many attempts to sign in.',
    passkey:
      'This passkey does not let you in: it was removed, or it is for another place. Use another way.',
    'passkey-late':
      'That took longer than five minutes, or the page was sent twice. Use the passkey once more.',
    'passkey-copied':
      'This passkey was refused, since somebody may have a copy of it. Use another way to come in, then remove it.',
    notices: {
      'nothing-ended':
        'Nothing was ended: you are not signed in here any more. Sign in, then end it once more.',
      'nothing-changed':
        'Nothing was changed: you are not signed in here any more. Sign in, then do it once more.',
      'passkey-removed':
        'The passkey is removed. You had signed in with it here, so this browser is signed out.',
      'not-enough': 'You are signed in, but this asks for more.',
      again: 'Sign in once more before you change how you sign in.',
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
      html`After this your browser opens an app on this device, by ${strong(scheme)}.`,
    toServer: (host: string) => html`After this ${strong(host)} is told what you decided.`,
    end: 'You can end this at any time on your account page.',
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
    title: 'Nobody here knows this application.',
    unnamed: 'an application without a name',
    text: 'Whatever it calls itself, allow only what you started yourself just now.',
    key: 'Its key:',
  },

  describedClient: {
    text: (host: string, name: string) =>
      html`Nobody here has registered this application. All that is known of it is from
      ${strong(host)}, where it calls itself ${strong(name)}.`,
    registered: (host: string, name: string) =>
      html`Those who run this server have named ${strong(host)}. The name ${strong(name)} is its own
      claim.`,
    native:
      'Any program on this computer could pretend to be it. Allow this only if you began it yourself just now.',
  },

  deviceEntry: {
    title: 'Connect a device',
    problemTitle: 'Error: connect a device',
    lead: 'Your device shows a code. Enter it here to let the device in.',
    code: 'Code',
    hint: 'Eight letters, such as BCDF-GHJK. Capitals and dashes do not matter.',
    submit: 'Continue',
    unknown: 'This code is not known, or it has expired. Compare it with your device.',
    later: 'You entered too many codes.',
  },

  deviceConfirm: {
    title: (client: string) => `Connect ${client}?`,
    compare: 'Compare this code with the one that your device shows:',
    warningTitle: 'Did somebody send you this code?',
    linkTitle: 'Did somebody send you this link?',
    warning:
      'Then deny. Whoever sent it would get access in your name. Allow only a device that you hold or see, and that you are setting up yourself right now.',
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
      text: 'It has expired or was used already. Start again on the device to get a new one.',
    },
    application: 'Application',
    account: 'See what has access',
    again: 'Enter another code',
  },

  otherPerson: {
    title: 'This is for somebody else',
    text: (client: string) =>
      html`${strong(client)} expects another person than you. Sign out if you are that person under
      another name. Otherwise deny.`,
    deny: 'Deny',
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
    lead: `You will be signed out in this browser. Applications that go on working only while you are signed in lose their access. ${ownSessionsEn}`,
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
      text: 'It has expired, was used already, or belongs to another browser. If you pressed a button twice, the first press may have counted. Start again where you came from.',
    },
    done: {
      title: 'The sign-in is done',
      text: 'You pressed twice, or went back. The first time counts, and the application has its answer. Go on there.',
    },
    request: {
      title: 'This request cannot be answered',
      text: 'The application that sent you here asked for something that is not possible. Nothing was changed.',
    },
    'not-found': {
      title: 'There is nothing here',
      text: 'The address may be mistyped, or what was here is gone.',
    },
    later: {
      title: 'Too many requests',
      text: 'Too much was asked from here in a short time. Wait a moment, then try again.',
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
  passkeys: passkeysEn,
  registration: registrationEn,
  secondFactor: secondFactorEn,

  keyLink: {
    title: 'Make a key',
    text: 'Open this link in the browser that is to have the key, here or on another device. It works once, within ten minutes, and no longer than you are signed in here.',
    warning: 'Whoever opens it can make a key that lets them in as you. Give it to nobody.',
    back: 'Back to your account',
  },

  endOne: endOneEn,

  endEverything: {
    title: 'End everything?',
    text: `You will be signed out in every browser, this one too, and every application and device loses its access at once. This cannot be undone: each has to be allowed anew. ${ownSessionsEn}`,
    browsers: 'These browsers will be signed out:',
    applications: 'These applications will lose their access:',
    more: 'This list leaves some out; they end, too.',
    stays:
      'Your password, passkeys and keys stay: change or remove those that somebody else may have.',
    submit: 'End everything',
    keep: 'End nothing',
    done: {
      title: 'Everything has ended',
      text: `You are signed out everywhere, and no application or device has access any more. You can sign in again. ${ownSessionsEn}`,
      signIns: 'Browsers that were signed in',
      grants: 'Applications and devices that had access',
    },
  },
};
