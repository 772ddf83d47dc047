import type { Mistake } from '#shared/base/mistake.ts';
import { speaker, type Words } from '#shared/refusals/words.ts';

/** A setting that is probably wrong, with the code that says why. */
export type Warning = Mistake & Words;

/** The warnings of the configuration by their codes. Each goes on after the setting that it is about. */
export const WARNINGS = {
  'no-schemes':
    'names none: everybody reaches the application, which has to ask for credentials itself',
  'never-met':
    'is never met by {schemes}, whose credentials do not tell how somebody signed in: such requests are refused',
  'second-factor-not-asked':
    'is not asked for: whoever knows a password gets in here, also that of somebody who has a second factor or must have one',
  dialog:
    'stands beside {scheme}: browsers will show its dialog whenever a script meets a session that has ended. Give what needs {scheme} a space of its own',
  'no-grants': 'gives a person no scopes, and some are needed here: name them in grants',
  'clear-text': 'is {url}: what goes there in clear text can be read and changed on its way',
  'cache-elsewhere':
    'hears of no change through {url}, which has the same application: what changes there has to be told here by PURGE or BAN',
  'purge-by-all': 'has every address: everybody may empty the cache',
  'purge-by-proxy':
    'has {network}, where trustedProxies has somebody: who comes from a proxy itself needs credentials all the same, since the proxy may have forgotten to say for whom',
  'other-path':
    'has another path than the space, and contents are not rewritten: clients of WebDAV will find the URLs of the application in its answers. Give both the same path, or leave its methods out',
  'issuer-address':
    'has an IP address: browsers make and use no passkeys there (WebAuthn section 5.1.3). Use a domain, or localhost',
  'development-listens':
    'is {host}, and this is development, with demo accounts and detailed errors: publish its ports at 127.0.0.1 alone, or set issuer and resource to https',
  'port-elsewhere':
    'is {port}, and {member} is {url}, where clients are sent: set {member}, too, unless a proxy is there',
  'contacts-over':
    'is over: /.well-known/security.txt is 404. See whether the contacts are still right, and set a new time',
  'proxy-here':
    'lacks 127.0.0.1, where the proxy in front connects: everybody counts as one address for limits and in lists',
  'proxy-elsewhere':
    'lacks the address from which the proxy in front connects: everybody counts as one address for limits and in lists',
  'documents-off':
    'is off, so that {setting} lets in only what client add --document registers. If that is not meant, name hosts',
  'documents-of-all':
    'is allow: anybody may describe a client, and strangers choose what the server fetches. Name hosts, or mean it',
  'documents-for-nothing':
    'takes clients that nobody registered, and no space has documentClients: they can have nothing',
  'registration-open':
    'is open: anybody may make an account and enter {spaces}. Give these spaces allow with groups or people, or mean it',
  'second-factor-off':
    'is off, so that nobody is asked for a code, and {setting} asks for second-factor: only people with a passkey get in there. Set it to optional',
  'mail-tls':
    'is {tls}, and mail servers speak {usual} at port {port}: set it to {usual}, or correct mail.port',

  // Only `config check` reports these warnings, since they need the store.
  'no-passkey-domain':
    'fits no passkey: browsers use none at {issuer}, and people have some for {domains}. Use https and a domain',
  'other-passkey-domain':
    'is {domain}, and people have passkeys for {domains}, which sign nobody in. Set it to the former domain, or let people make new ones',
  'empty-group':
    'is {group}, and nobody is in that group: correct its name, or put somebody in it with `user set NAME --group`',
  'server-of-store': 'has a server to set up: {reason}',
} as const;

export const warn = speaker(WARNINGS);
