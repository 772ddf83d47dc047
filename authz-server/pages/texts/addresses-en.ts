export const addressesEn = {
  title: 'E-mail address',
  problemTitle: 'Error: e-mail address',
  lead: 'Messages about your account go to your confirmed address, also a link if you forget your password.',
  yours: 'Your addresses',
  none: 'You have none here.',
  confirm: 'Confirm this address',
  add: 'Add an address',
  addText: 'We send a link there. Once you have opened it, the address is yours here.',
  change: 'Use another address',
  changeText:
    'We send a link there. Once you have opened it, the new address takes the place of the first one, and we tell the old one.',
  label: 'New e-mail address',
  send: 'Send me a link',
  back: 'Back to your account',
  sent: 'A message with a link is on its way. The link works once, for 24 hours, in a browser in which you are signed in. Nothing came? Look among the unwanted messages, and check the address.',
  problems: {
    address: 'This is no e-mail address. One looks like alice@example.com.',
    verified: 'This address is confirmed already.',
    later: 'Too many links were asked for.',
  },
  link: {
    title: 'Is this your address?',
    lead: (address: string, name: string) => `${address} is to belong to your account ${name}.`,
    former: (address: string) => `It takes the place of ${address}, which we tell about it.`,
    submit: 'Yes, it is mine',
  },
  done: {
    title: 'Your address is confirmed',
    text: (address: string) => `Messages about your account go to ${address}.`,
  },
  gone: {
    title: 'This link does not work',
    text: 'Such a link works once, for 24 hours, only for the account that asked for it, and only the latest one does. The address must not be that of another account. Ask for another link on your account page.',
  },
};
