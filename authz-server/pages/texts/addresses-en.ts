export const addressesEn = {
  title: 'E-mail address',
  problemTitle: 'Error: e-mail address',
  lead: 'Messages about your account go to your confirmed address, also a link if you forget your password.',
  yours: 'Your addresses',
  none: 'You have no e-mail address here.',
  confirm: 'Confirm this address',
  add: 'Add an address',
  addText: 'We send a link to this address. Open the link to confirm the address.',
  change: 'Use another address',
  changeText:
    'We send a link to the new address. When you open the link, the new address replaces your first address. We also notify the old address.',
  owned: (source: string) => `Your addresses come from ${source}. You can change them only there.`,
  label: 'New e-mail address',
  send: 'Send me a link',
  back: 'Back to your account',
  sent: 'A message with a link is on its way. The link works once, for 24 hours, in a browser in which you are signed in. Nothing came? Look in your spam folder, and check the address.',
  problems: {
    address: 'This is not an e-mail address. An address looks like alice@example.com.',
    verified: 'This address is confirmed already.',
    later: 'Too many links were requested.',
  },
  link: {
    title: 'Is this your address?',
    lead: (address: string, name: string) => `${address} will belong to your account ${name}.`,
    former: (address: string) => `It replaces ${address}, which we also notify.`,
    submit: 'Yes, it is mine',
  },
  done: {
    title: 'Your address is confirmed',
    text: (address: string) => `Messages about your account go to ${address}.`,
  },
  gone: {
    title: 'This link does not work',
    text: 'A link works once, for 24 hours, and only for the account that requested it. Only the latest link works. The address must not belong to another account. Request another link on your account page.',
  },
};
