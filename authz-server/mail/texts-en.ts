import type { MailTexts, WriteMail } from './texts.ts';

const againEn = (again: boolean) =>
  again
    ? `
This has happened several times in a short time. You get only one message for all of them: look at your account.
`
    : '';

/** Returns a notice: a change, and the steps for a person who did not make it. */
const noticeEn =
  (what: string): WriteMail =>
  ({ name, brand, account, at, again }) => ({
    subject: `${brand}: ${what}`,
    text: `Hello ${name},

at ${brand} ${what}, on ${at}.
${againEn(again)}
If that was you, there is nothing to do.

If it was not: use "Forgotten your password?" at ${account} to set another password, look through your account there, or ask the people who run ${brand}.
`,
  });

/** Returns a message with a link by which an operator lets a person sign in. */
const operatorEn =
  (more: string): WriteMail =>
  ({ name, brand, link }) => ({
    subject: `${brand}: set a new password`,
    text: `Hello ${name},

the people who run ${brand} send you this link. It sets a new password.${more} The link works once, for 15 minutes:

${link}

If you did not ask for this link, do not use it, and tell the people who run ${brand}. Do not share the link.
`,
  });

/** The messages in English. They are plain text, so no mail program has to trust them. */
export const mailEn: MailTexts = {
  'password-changed': noticeEn('your password was changed'),
  'password-set': noticeEn('a password was set for your account'),
  'account-linked': noticeEn('an account elsewhere was linked'),
  'account-unlinked': noticeEn('an account elsewhere was unlinked'),
  'passkey-added': noticeEn('a passkey was added'),
  'passkey-removed': noticeEn('a passkey was removed'),
  'second-factor-set-up': noticeEn('a second factor was set up'),
  'second-factor-replaced': noticeEn('your second factor was replaced by another'),
  'second-factor-removed': noticeEn('your second factor was removed'),
  'recovery-codes-renewed': noticeEn('new recovery codes were made'),
  'recovery-code-used': (facts) =>
    noticeEn(`a recovery code was used to sign in (codes left: ${facts.codesLeft})`)(facts),
  'new-sign-in': ({ name, brand, account, at, program, address, again }) => ({
    subject: `${brand}: new sign-in`,
    text: `Hello ${name},

someone signed in to your account at ${brand} with a browser that was not used for this account before.

Time: ${at}
Program: ${program}
Address: ${address}
${againEn(again)}
If that was you, there is nothing to do.

If it was not: change your password at ${account}, end the sign-ins there that you do not know, or ask the people who run ${brand}.
`,
  }),
  recovery: ({ name, brand, link }) => ({
    subject: `${brand}: set a new password`,
    text: `Hello ${name},

a new password for your account at ${brand} was requested, perhaps by you. With this link you set a new password. The link works once, for 15 minutes:

${link}

If that was not you, do nothing: your password stays as it is. Do not share the link.
`,
  }),
  'recovery-by-operator': operatorEn(''),
  'recovery-of-everything': operatorEn(' It also removes your second factor.'),
  invitation: ({ name, brand, link }) => ({
    subject: `${brand}: welcome`,
    text: `Hello ${name},

there is an account for you at ${brand}. With this link you choose your password, or make a passkey. The link works once, for 24 hours:

${link}

Your name there is ${name}. Do not share the link.
`,
  }),
  registration: ({ brand, link }) => ({
    subject: `${brand}: create your account`,
    text: `Hello,

an account at ${brand} was requested for this address, perhaps by you. With this link you choose a name and a password, or a passkey. The link works once, for 24 hours:

${link}

If that was not you, do nothing: then no account is made. Do not share the link.
`,
  }),
  'registration-invitation': ({ brand, link }) => ({
    subject: `${brand}: welcome`,
    text: `Hello,

the people who run ${brand} invite you. With this link you choose a name and a password, or a passkey. The link works once, for 24 hours:

${link}

Do not share the link.
`,
  }),
  'registration-known': ({ name, brand, account, link }) => ({
    subject: `${brand}: you have an account`,
    text: `Hello ${name},

an account at ${brand} was requested for this address, perhaps by you. You already have an account: your name there is ${name}. Your account page is ${account}

If you forgot the password, ask for a link at ${link}

If that was not you, there is nothing to do.
`,
  }),
  'address-confirmation': ({ name, brand, to, link }) => ({
    subject: `${brand}: confirm this address`,
    text: `Hello,

the account ${name} at ${brand} gives ${to} as its e-mail address. If that is your account, confirm the address. The link works once, for 24 hours:

${link}

If that is not your account, do nothing: then the address does not belong to that account.
`,
  }),
  'address-changed': ({ name, brand, account, at }) => ({
    subject: `${brand}: another e-mail address`,
    text: `Hello ${name},

the e-mail address of your account at ${brand} was changed on ${at}. From now on messages go to the new address, and no longer to this address.

If that was you, there is nothing to do.

If it was not: sign in at ${account}, change your password and your address, and ask the people who run ${brand}.
`,
  }),
};
